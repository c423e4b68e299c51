// What `tandem tune` refuses, and says, before it trains anything.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "base/files/files.h"
#include "commands/tune/tune_fixture.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using Row = nlohmann::json;

// What a sentinel set has under another name.
TEST_F(Tune, ACopyOfTheTestIsNoSentinelSet) {
  std::filesystem::copy(Path("other"), Path("copy"), std::filesystem::copy_options::recursive);
  ExpectRefused(
      {"--set", fmt::format("tune.keep=[\"{}\"]", Path("copy")), "--set", "tune.keep_split=dev",
       "--set", Set("tune.test", "other"), "--set", "tune.test_split=dev"},
      "are in split dev of " + Path("copy") + " too, which tune.keep measures");
}

TEST_F(Tune, LengthsOfTwoKindsAreNotSearched) {
  ExpectRefused({"--set", "tune.train.steps=[10, 20]"},
                "tune.train.steps cannot be searched around a recipe whose length is train.epochs");
}

TEST_F(Tune, ValidationByWhatIsTrainedOnIsWarnedOf) {
  const ProgramResult result = Search("search", {"--budget", "40 steps"});
  EXPECT_THAT(result.err, HasSubstr("48 of the 48 validation queries are training queries too"));
}

TEST_F(Tune, BadInputIsRefusedBeforeAnythingIsTrained) {
  ExpectRefused({"--budget", "35 steps"}, "--budget is less than one trial takes, 36 steps");
  ExpectRefused({"--budget", "soon"}, "--budget is \"soon\"; a time like 90s");
  ExpectRefused({"--set", "tune.train.batch=[]"}, "tune.train.batch has no value");
  ExpectRefused({"--set", "tune.train.batsch=[8]"}, "tune.train.batsch is unknown");
  ExpectRefused({"--set", "tune.validation.pool=[8]"}, "tune.validation.pool cannot be searched");
  ExpectRefused({"--set", Set("tune.test", "data"), "--set", "tune.test_split=train"},
                "tune.test is split train of " + Path("data") + ", by which the search chooses");
  ExpectRefused({"--set", "validation.split=dev", "--set", Set("tune.test", "data"), "--set",
                 "tune.test_split=train"},
                "which is trained on");
  const std::string other = fmt::format("tune.keep=[\"{}\"]", Path("other"));
  ExpectRefused({"--set", other, "--set", "tune.keep_split=dev", "--set", Set("tune.test", "other"),
                 "--set", "tune.test_split=dev"},
                "tune.test is split dev of " + Path("other") + ", which tune.keep measures every");
  ExpectRefused(
      {"--set", fmt::format("tune.keep=[\"{}\"]", Path("data")), "--set", "tune.keep_split=train"},
      "tune.keep names split train of " + Path("data") + ", by which the search chooses");
  ExpectRefused({"--set", "validation.split=dev", "--set",
                 fmt::format("tune.keep=[\"{}\"]", Path("data")), "--set", "tune.keep_split=train"},
                "tune.keep names split train of " + Path("data") + ", which is trained on");
  ExpectRefused({"--set", "tune.test_split=dev"}, "tune.test_split does nothing here");
  ExpectRefused({"--set", "tune.keep_split=dev"}, "tune.keep_split does nothing here");
  ExpectRefused({"--set", "tune.average=[0.5, 0.25, 0.5]"}, "tune.average has 0.5 twice");
  ExpectRefused({"--set", "validation.measure=loss"}, "validation.measure is \"loss\"");
  ExpectRefused({"--set", "validation.measure=auc"}, "has no value of a single query");
  ExpectRefused({"--set", fmt::format("tune.keep=[\"{}\"]", Path("other"))},
                "has no judgements " + Path("other/qrels/test.tsv"));
  ExpectRefused({"--set", fmt::format("tune.keep=[\"{0}\", \"{0}/\"]", Path("other")), "--set",
                 "tune.keep_split=dev"},
                "tune.keep names " + Path("other") + "/ twice");
  ExpectRefused({"--set", "tune.lora.rank=[2, 4]"},
                "tune.lora.rank does nothing in any trial: it needs model.train");
  ExpectRefused({"--set", "tune.optimizer=[1e-3]"},
                "tune.optimizer is a table of recipes; name one of its keys, like tune.optimizer");
  ExpectRefused({"--resume"}, "holds no search to resume");
}

// The paired tests of the choice go by the queries of one data set.
TEST_F(Tune, SeveralDataSetsToValidateOnAreRefused) {
  std::string recipe = ReadFile(Path("recipe.toml"));
  const size_t at = recipe.find("data = ", recipe.find("[validation]"));
  recipe.erase(at, recipe.find("[tune]") - at);
  WriteFileAtomically(Path("recipe.toml"),
                      recipe + fmt::format("[[validation.source]]\npath = \"{}\"\n", Path("data")));
  ExpectRefused({},
                "recipe.toml:23:8: validation.source.1.path is one of a list, but models are "
                "compared by the queries of one data set");
}

// A copy of the validation data under another name is the same data.
TEST_F(Tune, TestDataWithTheQueriesOfValidationAreRefused) {
  std::filesystem::copy(Path("data"), Path("copy"), std::filesystem::copy_options::recursive);
  ExpectRefused({"--set", "validation.split=dev", "--set", Set("tune.test", "copy"), "--set",
                 "tune.test_split=dev"},
                "has 16 queries, of which 16 are validation queries too");
  // Nor is it others with capitals and more blanks.
  std::string queries = ReadFile(Path("copy/queries.jsonl"));
  size_t changed = 0;
  for (size_t at = 0; (at = queries.find("\"text\": \"", at)) != std::string::npos;) {
    at += std::string("\"text\": \"").size();
    queries[at] = static_cast<char>(std::toupper(static_cast<unsigned char>(queries[at])));
    queries.insert(queries.find(' ', at), " ");
    ++changed;
  }
  ASSERT_GT(changed, 16U);
  WriteFileAtomically(Path("copy/queries.jsonl"), queries);
  ExpectRefused({"--set", "validation.split=dev", "--set", Set("tune.test", "copy"), "--set",
                 "tune.test_split=dev"},
                "has 16 queries, of which 16 are validation queries too");
}

TEST_F(Tune, ASpaceOfOneConfigurationIsRefused) {
  WriteFileAtomically(
      Path("recipe.toml"),
      ReadFile(Path("recipe.toml")).substr(0, ReadFile(Path("recipe.toml")).find("[tune]")) +
          "[tune]\ntrain.batch = [8]\n");
  ExpectRefused({}, "the search has one configuration, the recipe as it is");
}

TEST_F(Tune, AFolderHoldsOneSearch) {
  ASSERT_EQ(Search("search", {"--budget", "36 steps"}).exit_code, 0);
  const ProgramResult again = Search("search", {"--budget", "36 steps"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("exists already; give --resume"));
  const ProgramResult other = Search("search", {"--budget", "72 steps", "--resume"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("was begun with another recipe, other --set flags or another"));
  const ProgramResult same = Search("search", {"--budget", "36 steps", "--resume"});
  EXPECT_EQ(same.exit_code, 0) << same.err;
}

// A base that is gone has not "changed".
TEST_F(Tune, ASearchWhoseBaseIsGoneSaysSo) {
  ASSERT_EQ(Search("search", {"--budget", "36 steps"}).exit_code, 0);
  std::filesystem::rename(Path("base"), Path("elsewhere"));
  const ProgramResult gone = Search("search", {"--budget", "36 steps", "--resume"});
  EXPECT_EQ(gone.exit_code, 4);
  EXPECT_THAT(gone.err, HasSubstr(Path("base") + ": no such folder; a model folder was expected"));
}

// bixse reads the scores of lines as grades, and infonce does not, so that the queries that are
// held out have other judgements.
TEST_F(Tune, ObjectivesThatValidateOtherwiseAreNotSearchedTogether) {
  std::string lines;
  for (int query = 0; query < 40; ++query) {
    lines += fmt::format(
        "{{\"query\": \"{0}\", \"pos\": [\"{0} one\", \"{0} two\"], \"neg\": [\"{1}\"], "
        "\"pos_scores\": [0.9, 0.4], \"neg_scores\": [0.3]}}\n",
        fmt::format("word {}", query), fmt::format("other {}", query));
  }
  WriteFileAtomically(Path("lines.jsonl"), lines);
  const auto recipe = [this](const std::string& objective, const std::string& tune) {
    WriteFileAtomically(Path("recipe.toml"),
                        fmt::format("seed = 3\n[model]\nbase = \"{}\"\n[data]\ntrain = \"{}\"\n"
                                    "[objective]\nname = \"{}\"\n[train]\nbatch = 8\nsteps = 9\n"
                                    "[validation]\nholdout = 12\n{}",
                                    Path("base"), Path("lines.jsonl"), objective, tune));
  };
  recipe("infonce", "[tune]\nobjective.name = [\"infonce\", \"bixse\", \"mann_whitney\"]\n");
  ExpectRefused({},
                "objective.name has \"bixse\", which reads the scores of lines otherwise than "
                "infonce does");
  recipe("bixse", "");
  const ProgramResult result = Search("search", {"--budget", "36 steps"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("not searched: objective.name = \"infonce\""));
  for (const Row& values : RowsOf("search", "plan").front()["configurations"]) {
    EXPECT_NE(values.value("objective.name", ""), "\"infonce\"");
  }
}

}  // namespace
}  // namespace tandem
