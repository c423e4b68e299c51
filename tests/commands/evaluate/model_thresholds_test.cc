// evaluate --model --thresholds, and compare with models, on a small model.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands/model_commands_fixture.h"

namespace tandem {
namespace {

using testing::HasSubstr;

// A corpus in which the samples of a query, its best 500 others, end long before the corpus does.
class ModelThresholds : public ModelCommandsTest {
 protected:
  ModelThresholds() { WriteTinyData(Path("data"), TinyWords(), {.documents = 1200}); }

  // A run of the whole corpus by the same model.
  void WriteWholeRun() const {
    const ProgramResult result =
        Search({"--split", "dev", "--top-k", "1200", "--output", Path("run.trec")});
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
};

nlohmann::json Parse(const ProgramResult& result) {
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return nlohmann::json::parse(result.out);
}

// A value with its interval; a run holds a model's scores in the fewest digits that give the same
// float.
void ExpectSameFloats(const nlohmann::json& got, const nlohmann::json& want,
                      const std::string& what) {
  for (const char* part : {"value", "low", "high"}) {
    ASSERT_EQ(got[part].is_null(), want[part].is_null()) << what << " " << part;
    if (got[part].is_null()) continue;
    EXPECT_FLOAT_EQ(got[part].get<float>(), want[part].get<float>()) << what << " " << part;
  }
}

// Below the samples the second pass finds what the whole ranking says.
TEST_F(ModelThresholds, AreThoseOfARunOfTheWholeCorpus) {
  WriteWholeRun();
  const std::vector<std::string> flags = {
      "--thresholds", "recall=1,recall=0.5,precision=0.002,fpr=0.3",
      "--format",     "json",
      "--measures",   "map,auc"};
  std::vector<std::string> of_run = {"evaluate", "--qrels", Path("data/qrels/dev.tsv"), "--run",
                                     Path("run.trec")};
  of_run.insert(of_run.end(), flags.begin(), flags.end());
  std::vector<std::string> of_model = flags;
  of_model.insert(of_model.end(), {"--split", "dev"});
  const auto run = Parse(RunTandem(of_run)), model = Parse(Evaluate(of_model));
  EXPECT_EQ(model["thresholds"].size(), 4);
  bool below_samples = false;
  for (size_t t = 0; t < 4; ++t) {
    const auto& from_run = run["thresholds"][t];
    const auto& from_model = model["thresholds"][t];
    for (const char* value : {"threshold", "precision", "recall", "fpr", "results"}) {
      ExpectSameFloats(from_model[value], from_run[value],
                       fmt::format("{} {}", from_run["wish"].get<std::string>(), value));
    }
    below_samples = below_samples || from_model["results"]["value"] > 501.0;
  }
  EXPECT_TRUE(below_samples);  // where samples alone would say that no query shows more than 501
  EXPECT_EQ(model["pool"], run["pool"]);
  EXPECT_TRUE(model["unknown_from"].is_null());
  // Kept embeddings give the same.
  of_model.insert(of_model.end(), {"--embeddings", Path("kept")});
  EXPECT_EQ(Parse(Evaluate(of_model)), model);
  EXPECT_EQ(Parse(Evaluate(of_model)), model);
}

TEST_F(ModelThresholds, UnmetTargetsOfAModel) {
  const ProgramResult result = Evaluate({"--split", "dev", "--thresholds", "results=0.01"});
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_THAT(result.err, HasSubstr("threshold results=0.01 cannot be met: the best possible is "));
}

TEST_F(ModelThresholds, AModelIsComparedWithItsOwnRunAndAnother) {
  WriteWholeRun();
  WriteTinyModel(Path("other"), {.pooling = "cls"});
  const auto compare = [&](const std::string& a, const std::string& b) {
    return RunTandem({"compare", Path(a), Path(b), "--dataset", Path("data"), "--split", "dev",
                      "--measures", "ndcg@10,auc", "--permutations", "2000", "--format", "json",
                      "--quiet"});
  };
  const auto same = Parse(compare("run.trec", "model"))["systems"][0]["measures"];
  for (const char* measure : {"ndcg@10", "auc"}) {
    EXPECT_EQ(same[measure]["difference"], 0.0) << measure;
    EXPECT_EQ(same[measure]["p"], 1.0) << measure;
  }
  const auto other = Parse(compare("model", "other"))["systems"][0]["measures"];
  EXPECT_NE(other["auc"]["difference"], 0.0);
  EXPECT_EQ(other["auc"]["baseline"], same["auc"]["value"]);
}

}  // namespace
}  // namespace tandem
