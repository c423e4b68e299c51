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

// What is chosen on one split and measured there again has the same counts, also those below the
// samples; on another split it has those that a run of the whole corpus says.
TEST_F(ModelThresholds, AreMeasuredOnOtherData) {
  const std::string targets = "recall=1,recall=0.5,precision=0.002,results=3";
  const ProgramResult chosen = Evaluate(
      {"--split", "dev", "--thresholds", targets, "--format", "json", "--measures", "map"});
  const auto before = Parse(chosen);
  EXPECT_EQ(before["chosen_on"]["data"], "data");
  EXPECT_EQ(before["chosen_on"]["split"], "dev");
  EXPECT_EQ(before["chosen_on"]["precision"], "fp32");
  Write("chosen.json", chosen.out);
  const auto apply = [&](const std::string& split, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"--split",           split,        "--apply-thresholds",
                                      Path("chosen.json"), "--measures", "map",
                                      "--format",          "json"};
    words.insert(words.end(), more.begin(), more.end());
    return Evaluate(words);
  };
  const ProgramResult same = apply("dev");
  EXPECT_THAT(same.err, HasSubstr("were chosen on data, split dev, which they are measured on"));
  const auto again = Parse(same)["applied"];
  ASSERT_EQ(again.size(), 4U);
  for (size_t t = 0; t < 4; ++t) {
    for (const char* value : {"precision", "recall", "results"}) {
      EXPECT_EQ(again[t][value]["value"], before["thresholds"][t][value]["value"]) << t << value;
    }
    EXPECT_EQ(again[t]["threshold"], before["thresholds"][t]["threshold"]["value"]);
  }
  // A run says the same of other queries.
  ASSERT_EQ(
      Search({"--split", "train", "--top-k", "1200", "--output", Path("train.trec")}).exit_code, 0);
  const auto of_model = Parse(apply("train"))["applied"];
  const auto of_run =
      Parse(RunTandem({"evaluate", "--qrels", Path("data/qrels/train.tsv"), "--run",
                       Path("train.trec"), "--apply-thresholds", Path("chosen.json"), "--measures",
                       "map", "--format", "json", "--quiet"}))["applied"];
  for (size_t t = 0; t < 4; ++t) {
    EXPECT_EQ(of_model[t]["found"], of_run[t]["found"]) << t;
    EXPECT_EQ(of_model[t]["queries_with_nothing"], of_run[t]["queries_with_nothing"]) << t;
    EXPECT_EQ(of_model[t]["recall"], of_run[t]["recall"]) << t;
    if (of_run[t]["shown"].is_null()) continue;
    EXPECT_EQ(of_model[t]["shown"], of_run[t]["shown"]) << t;
  }
}

TEST_F(ModelThresholds, ThoseOfAnotherModelAreRefused) {
  const ProgramResult chosen = Evaluate(
      {"--split", "dev", "--thresholds", "recall=0.5", "--format", "json", "--measures", "map"});
  Write("chosen.json", chosen.out);
  const std::vector<std::string> apply = {"--split",           "train",      "--apply-thresholds",
                                          Path("chosen.json"), "--measures", "map"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = apply;
    words.insert(words.end(), more.begin(), more.end());
    return Evaluate(words);
  };
  const ProgramResult precision = with({"--precision", "int8"});
  EXPECT_EQ(precision.exit_code, 0) << precision.err;
  EXPECT_THAT(precision.err, HasSubstr("were chosen with precision 'fp32', now 'int8'"));
  EXPECT_THAT(with({"--prompt", "alpha "}).err, HasSubstr("query prompt "));
  EXPECT_THAT(with({"--relevance-level", "2"}).err,
              HasSubstr("were chosen with relevance level 1, now it is 2"));
  WriteTinyModel(Path("model"), {.pooling = "cls"});
  const ProgramResult other = with({});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_EQ(other.out, "");
  EXPECT_THAT(other.err,
              HasSubstr("its thresholds are scores of another model (model, fingerprint"));
  nlohmann::json dot = nlohmann::json::parse(chosen.out);
  dot["chosen_on"]["similarity"] = "dot";
  Write("chosen.json", dot.dump());
  const ProgramResult similarity = with({});
  EXPECT_EQ(similarity.exit_code, 2);
  EXPECT_THAT(similarity.err, HasSubstr("its thresholds are scores by dot, but model compares by "
                                        "cosine"));
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
