// The cache and the precision of commands, as a user runs them: what one command has encoded,
// others find.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "commands/model_commands_fixture.h"

namespace tandem {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CommandCache : public ModelCommandsTest {
 protected:
  ProgramResult Run(std::vector<std::string> arguments,
                    std::map<std::string, std::string> environment = {}) const {
    environment.emplace("TANDEM_CACHE", Path("cache"));
    return RunTandem(arguments, "", environment);
  }
  std::vector<std::string> Evaluation(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"evaluate",  "--model",    Path("model"),
                                          "--dataset", Path("data"), "--split",
                                          "dev",       "--format",   "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  size_t Files() const {
    size_t files = 0;
    if (!std::filesystem::exists(Path("cache/embeddings"))) return files;
    for (const auto& one : std::filesystem::directory_iterator(Path("cache/embeddings"))) {
      files += one.is_regular_file();
    }
    return files;
  }
};

constexpr const char* kAllDocuments = "encode documents: 60 of 60 embeddings are from ";

TEST_F(CommandCache, WhatOneCommandHasEncodedTheOthersFind) {
  const ProgramResult first = Run(Evaluation());
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.err, Not(HasSubstr("embeddings are from")));
  EXPECT_EQ(Files(), 2U);
  const std::vector<std::string> data = {"--dataset", Path("data"), "--split", "dev"};
  const auto with_data = [&](std::vector<std::string> words) {
    words.insert(words.end(), data.begin(), data.end());
    return words;
  };
  for (const std::vector<std::string>& words :
       {Evaluation(), with_data({"calibrate", Path("model"), "--dry-run"}),
        with_data({"search", "--model", Path("model"), "--output", Path("found")}),
        with_data({"compare", Path("model"), Path("found")})}) {
    const ProgramResult again = Run(words);
    EXPECT_EQ(again.exit_code, 0) << words[0] << again.err;
    EXPECT_THAT(again.err, HasSubstr(kAllDocuments)) << words[0];
    EXPECT_THAT(again.err, HasSubstr("encode queries: ")) << words[0];
    EXPECT_EQ(Files(), 2U) << words[0];
    if (words[0] == "evaluate") {
      EXPECT_EQ(again.out, first.out);
    }
  }
}

TEST_F(CommandCache, ViewsAndCandidatesToo) {
  const std::vector<std::string> views = Evaluation({"--views"});
  const ProgramResult first = Run(views), again = Run(views);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out, again.out);
  EXPECT_THAT(again.err, AllOf(HasSubstr(kAllDocuments), HasSubstr("documents for views: ")));
}

TEST_F(CommandCache, WithoutItTheBytesAreTheSameAndNothingIsKept) {
  const ProgramResult kept = Run(Evaluation()), without = Run(Evaluation({"--no-cache"}));
  ASSERT_EQ(kept.exit_code, 0) << kept.err;
  EXPECT_EQ(kept.out, without.out);
  EXPECT_THAT(without.err, Not(HasSubstr("embeddings are from")));
  const std::vector<std::string> search = {"search",    "--model",    Path("model"),
                                           "--dataset", Path("data"), "--split",
                                           "dev",       "--output",   "-"};
  std::vector<std::string> plain = search;
  plain.push_back("--no-cache");
  EXPECT_EQ(Run(search).out, Run(plain).out);
  std::filesystem::remove_all(Path("cache"));
  Run(Evaluation({"--no-cache"}));
  Run(Evaluation(), {{"TANDEM_CACHE_BYTES", "0"}});
  EXPECT_FALSE(std::filesystem::exists(Path("cache")));
}

TEST_F(CommandCache, WhateverDecidesTheBytesIsAnotherEntry) {
  Run(Evaluation());
  size_t files = Files();
  const auto is_another = [&](const std::vector<std::string>& more, const char* what) {
    const ProgramResult result = Run(Evaluation(more));
    EXPECT_EQ(result.exit_code, 0) << what << result.err;
    EXPECT_GT(Files(), files) << what;
    files = Files();
  };
  is_another({"--precision", "int8"}, "precision");
  is_another({"--prompt", "alpha "}, "prompt");
  is_another({"--max-document-tokens", "4"}, "length");
  WriteTinyModel(Path("model"), {.pooling = "cls"});
  is_another({}, "model");
  WriteFileAtomically(Path("data/corpus.jsonl"), ReadFile(Path("data/corpus.jsonl")) +
                                                     "{\"_id\": \"new\", \"text\": \"alpha\"}\n");
  is_another({}, "texts");
}

TEST_F(CommandCache, OneThatCannotBeWrittenIsAWarning) {
  const ProgramResult expected = Run(Evaluation({"--no-cache"}));
  WriteFileAtomically(Path("file"), "");
  const ProgramResult result = Run(Evaluation(), {{"TANDEM_CACHE", Path("file")}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("warning: embeddings are not kept: "));
  EXPECT_EQ(result.out, expected.out);
  const ProgramResult small = Run(Evaluation(), {{"TANDEM_CACHE_BYTES", "9kB"}});
  EXPECT_EQ(small.exit_code, 0) << small.err;
  EXPECT_THAT(small.err, HasSubstr("warning: embeddings are not kept: "));
  EXPECT_THAT(small.err, HasSubstr("TANDEM_CACHE_BYTES leaves the cache 8.8 KiB"));
  EXPECT_EQ(small.out, expected.out);
  const ProgramResult wrong = Run(Evaluation(), {{"TANDEM_CACHE_BYTES", "lots"}});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("TANDEM_CACHE_BYTES is \"lots\""));
}

TEST_F(CommandCache, TheOldestEntryGoesWhereTheLimitIsReached) {
  ASSERT_EQ(Run(Evaluation()).exit_code, 0);
  uint64_t bytes = 0;
  for (const auto& one : std::filesystem::directory_iterator(Path("cache/embeddings"))) {
    bytes += one.file_size();
  }
  const ProgramResult other =
      Run(Evaluation({"--precision", "int8"}), {{"TANDEM_CACHE_BYTES", std::to_string(bytes)}});
  EXPECT_EQ(other.exit_code, 0) << other.err;
  EXPECT_THAT(other.err, HasSubstr("of embeddings that were not used for longest are removed"));
  EXPECT_EQ(Files(), 2U);
  EXPECT_THAT(Run(Evaluation({"--precision", "int8"})).err, HasSubstr(kAllDocuments));
}

TEST_F(CommandCache, TypedQueriesAreNotKept) {
  const std::vector<std::string> search = {"search",     "--model", Path("model"), "--dataset",
                                           Path("data"), "--query", "alpha"};
  ASSERT_EQ(Run(search).exit_code, 0);
  EXPECT_EQ(Files(), 1U);
  EXPECT_THAT(Run(search).err, HasSubstr(kAllDocuments));
}

TEST_F(CommandCache, TwoProcessesAtOnceMakeOneEntryEach) {
  const std::map<std::string, std::string> environment = {{"TANDEM_CACHE", Path("cache")}};
  const ProgramResult alone = Run(Evaluation({"--no-cache"}));
  std::vector<pid_t> children;
  for (const std::string name : {"one", "two"}) {
    children.push_back(StartTandem(
        Evaluation(), {.in = "/dev/null", .out = Path(name), .err = Path(name + ".err")},
        environment));
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(ReadFile(Path("one")), alone.out);
  EXPECT_EQ(ReadFile(Path("two")), alone.out);
  EXPECT_EQ(Files(), 2U);
}

TEST_F(CommandCache, InspectShowsWhatIsKept) {
  ASSERT_EQ(Run(Evaluation()).exit_code, 0);
  const ProgramResult shown = Run({"inspect", Path("cache"), "--format", "json"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out,
              AllOf(HasSubstr("\"kind\": \"cache\""), HasSubstr("\"texts\": 60"),
                    HasSubstr("\"precision\": \"fp32\""), HasSubstr("\"limit\": 17179869184")));
  for (const auto& one : std::filesystem::directory_iterator(Path("cache/embeddings"))) {
    const ProgramResult file = Run({"inspect", one.path().native()});
    EXPECT_THAT(file.out, HasSubstr("cached_embeddings")) << file.err;
  }
  WriteFileAtomically(Path("x.embeddings"), "x");
  EXPECT_EQ(Run({"inspect", Path("x.embeddings")}).exit_code, 3);
}

// --- TANDEM_PRECISION ----------------------------------------------------------------------------

TEST_F(CommandCache, TheEnvironmentGivesThePrecisionUnlessAFlagDoes) {
  const std::map<std::string, std::string> int8 = {{"TANDEM_PRECISION", "int8"}};
  const ProgramResult by_flag = Run(Evaluation({"--precision", "int8"}));
  const ProgramResult by_environment = Run(Evaluation(), int8);
  EXPECT_EQ(by_environment.exit_code, 0) << by_environment.err;
  EXPECT_THAT(by_environment.err, HasSubstr(kAllDocuments));  // the entry that the flag made
  EXPECT_EQ(by_environment.out, by_flag.out);
  EXPECT_THAT(Run(Evaluation({"--precision", "fp32"}), int8).err, Not(HasSubstr(kAllDocuments)));
  EXPECT_THAT(Run(Evaluation(), {{"TANDEM_PRECISION", ""}}).err, HasSubstr(kAllDocuments));
}

TEST_F(CommandCache, AWrongPrecisionOfTheEnvironmentNamesTheVariable) {
  const ProgramResult wrong = Run(Evaluation(), {{"TANDEM_PRECISION", "bf17"}});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("TANDEM_PRECISION is \"bf17\" in the environment: precision is "
                                   "auto, fp32, bf16, int8, fp16 or tf32, not bf17"));
  // Portable forms let the processor take it.
  const ProgramResult device =
      Run(Evaluation(), {{"TANDEM_PRECISION", "fp16"}, {"TANDEM_FORMS", ""}});
  EXPECT_EQ(device.exit_code, 2);
  EXPECT_THAT(device.err, HasSubstr("TANDEM_PRECISION is \"fp16\""));
}

TEST_F(CommandCache, TrainingRefusesEightBitsOfTheEnvironment) {
  Write("recipe.toml", "objective.name = \"infonce\"\nmodel.base = \"" + Path("model") +
                           "\"\ndata.train = \"" + Path("data") + "\"\ntrain.steps = 1\n");
  const ProgramResult result =
      Run({"train", Path("recipe.toml"), "--output", Path("run")}, {{"TANDEM_PRECISION", "int8"}});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("TANDEM_PRECISION is \"int8\" in the environment: precision "
                                    "int8 is for encoding only"));
}

}  // namespace
}  // namespace tandem
