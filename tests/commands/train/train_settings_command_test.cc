// What a run leaves in its model folder for those who use it: similarity, lengths, scale and bias.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands/train/run_fixture.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

class TrainSettings : public RunTest {
 protected:
  TrainSettings()
      : RunTest(kQuickRecipe + R"(
grade_scale = [0, 2]
positive_grade = 2
negatives = 1
[optimizer]
learning_rate = 1e-2
[train]
batch = 8
steps = 4
[validation]
data = "{0}/data"
split = "dev"
every = "2 steps"
)") {
    WriteTinyData(folder_.path() / "data", TinyWords(), {.words = 24});
  }
  void Write(const std::string& name, const std::string& text) const {
    WriteFileAtomically(folder_.path() / name, text);
  }
  Json Read(const std::string& name) const { return Json::parse(ReadFile(Path(name))); }
  std::string SimilarityOf(const std::string& run) const {
    return Read(run + "/model/config_sentence_transformers.json")["similarity_fn_name"];
  }
  // nDCG@10 of the run's last validation, of its best model.
  double BestOf(const std::string& run) const { return MetricOf(run, "best_ndcg@10").back(); }
  // The same of the base, before the first step.
  double BaseOf(const std::string& run) const {
    std::istringstream lines(ReadFile(Path(run + "/metrics.jsonl")));
    for (std::string text; std::getline(lines, text);) {
      const Json line = Json::parse(text);
      if (line["event"] == "validation") return line["validation_ndcg@10"];
    }
    return -1;
  }
  double Evaluate(const std::string& model, const std::vector<std::string>& further = {}) const {
    std::vector<std::string> arguments = {
        "evaluate",   "--model", Path(model), "--dataset", Path("data"), "--split",           "dev",
        "--measures", "ndcg@10", "--format",  "json",      "--quiet",    "--relevance-level", "2"};
    arguments.insert(arguments.end(), further.begin(), further.end());
    const ProgramResult result = RunTandem(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return Json::parse(result.out).at("measures").at("ndcg@10");
  }
  // A base whose embeddings have no unit length, so that dot product and cosine rank differently.
  void DropNormalize() const {
    Json modules = Read("base/modules.json");
    modules.erase(modules.size() - 1);
    Write("base/modules.json", modules.dump());
  }
};

TEST_F(TrainSettings, TrainsAndSavesByTheModelsOwnSimilarity) {
  DropNormalize();
  Write("base/config_sentence_transformers.json", R"({"similarity_fn_name": "dot"})");
  const ProgramResult result = Train("own");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, Not(HasSubstr("trains by")));
  EXPECT_THAT(ReadFile(Path("own/recipe.resolved.toml")), HasSubstr("similarity_kind = \"dot\""));
  EXPECT_EQ(SimilarityOf("own"), "dot");
  EXPECT_EQ(Evaluate("own/model"), BestOf("own"));
  ASSERT_EQ(Train("cosine", {"--set", "objective.similarity_kind=cosine"}).exit_code, 0);
  EXPECT_EQ(SimilarityOf("cosine"), "cosine");
  EXPECT_NE(MetricOf("own", "loss"), MetricOf("cosine", "loss"));
}

TEST_F(TrainSettings, ASimilarityThatIsNotTheBasesIsSaidValidatedAndSaved) {
  DropNormalize();
  const ProgramResult result = Train("run", {"--set", "objective.similarity_kind=dot"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err,
              HasSubstr("infonce trains by dot, " + Path("base") + " compares by cosine"));
  EXPECT_EQ(SimilarityOf("run"), "dot");
  EXPECT_EQ(Evaluate("run/model"), BestOf("run"));
  ASSERT_EQ(Train("default").exit_code, 0);
  EXPECT_EQ(SimilarityOf("default"), "cosine");
  // The base alone, before training: validation compares by what is trained.
  EXPECT_NE(BaseOf("run"), BaseOf("default"));
}

TEST_F(TrainSettings, MarginMseTrainsByDotProduct) {
  DropNormalize();
  std::string lines;
  for (int q = 0; q < 8; ++q) {
    lines += fmt::format(
        "{{\"prompt\": \"find: \", \"query\": \"alpha {0}\", \"pos\": [\"beta {0}\"], \"neg\": "
        "[\"gamma {0}\"], "
        "\"pos_scores\": [4.5], \"neg_scores\": [1.5]}}\n",
        q);
  }
  Write("lines.jsonl", lines);
  Write("recipe.toml",
        fmt::format("threads = 1\nprecision = \"fp32\"\n[model]\nbase = \"{0}/base\"\n[data]\n"
                    "train = \"{0}/lines.jsonl\"\nnegatives = 1\n[objective]\nname = "
                    "\"margin_mse\"\n[train]\nbatch = 4\nsteps = 2\n",
                    folder_.path().native()));
  const ProgramResult result = Train("run");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("margin_mse trains by dot"));
  EXPECT_EQ(SimilarityOf("run"), "dot");  // also where the data's prompt is saved with it
  EXPECT_EQ(Read("run/model/config_sentence_transformers.json")["prompts"]["query"], "find: ");
}

TEST_F(TrainSettings, AModelIsEvaluatedAtTheLengthsItWasTrainedAt) {
  const ProgramResult result =
      Train("run", {"--set", "model.max_document_tokens=8", "--set", "model.max_query_tokens=5"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(Read("run/model/tandem.json")["max_query_tokens"], 5);
  EXPECT_EQ(Read("run/model/tandem.json")["max_document_tokens"], 8);
  EXPECT_EQ(Read("run/model/sentence_bert_config.json")["max_seq_length"], 8);
  const double value = Evaluate("run/model");
  EXPECT_EQ(value, BestOf("run"));
  const std::string card = ReadFile(Path("run/model/README.md"));
  EXPECT_THAT(card, HasSubstr("queries of up to 5 tokens and documents of up to 8 tokens"));
  EXPECT_THAT(card, HasSubstr(fmt::format(" | {:.4f} |\n", value)));
  EXPECT_NE(Evaluate("run/model", {"--max-query-tokens", "0", "--max-document-tokens", "0"}),
            value);
  // A further run goes on with them; the recipe goes before them.
  ASSERT_EQ(Train("next",
                  {"--set", "model.base=" + Path("run/model"), "--set", "model.max_query_tokens=6"})
                .exit_code,
            0);
  EXPECT_THAT(ReadFile(Path("next/recipe.resolved.toml")),
              HasSubstr("max_query_tokens = 6\nmax_document_tokens = 8\n"));
}

TEST_F(TrainSettings, BixseContinuesFromTheModelsScaleAndBias) {
  const std::vector<std::string> bixse = {"--set", "objective.name=bixse"};
  ASSERT_EQ(Train("first", bixse).exit_code, 0);
  const Json first = Read("first/model/tandem.json");
  ASSERT_TRUE(first.contains("probability"));
  const double bias = first["probability"]["bias"];
  const auto go_on = [&](const std::string& run, std::vector<std::string> further) {
    further.insert(further.end(), {"--set", "model.base=" + Path("first/model")});
    return Train(run, further);
  };
  // At a learning rate of 0 it ends where it starts.
  const std::vector<std::string> still = {"--set", "objective.name=bixse", "--set",
                                          "optimizer.learning_rate=0"};
  const ProgramResult second = go_on("second", still);
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(second.err, HasSubstr("bixse continues from scale 20 and bias"));
  EXPECT_EQ(Read("second/model/tandem.json")["probability"], first["probability"]);
  EXPECT_THAT(ReadFile(Path("second/recipe.resolved.toml")), HasSubstr("bias = "));
  // The recipe goes before the model.
  std::vector<std::string> given = still;
  given.insert(given.end(), {"--set", "objective.bias=-1.5"});
  const ProgramResult third = go_on("third", given);
  ASSERT_EQ(third.exit_code, 0) << third.err;
  EXPECT_THAT(third.err, HasSubstr("continues from scale 20 of"));
  EXPECT_EQ(Read("third/model/tandem.json")["probability"]["bias"], -1.5);
  // Without a model's bias the first batch says it.
  ASSERT_EQ(Train("fresh", still).exit_code, 0);
  EXPECT_NE(Read("fresh/model/tandem.json")["probability"]["bias"], bias);
  // Scores of another similarity are others.
  std::vector<std::string> dot = still;
  dot.insert(dot.end(), {"--set", "objective.similarity_kind=dot"});
  EXPECT_THAT(go_on("dot", dot).err, HasSubstr("are for cosine, not for dot"));
  // Training by another objective makes other scores.
  const ProgramResult other = go_on("other", {});
  ASSERT_EQ(other.exit_code, 0);
  EXPECT_THAT(other.err, HasSubstr("is not kept, since training makes other scores"));
  EXPECT_FALSE(Read("other/model/tandem.json").contains("probability"));
}

// `tandem calibrate` keeps what the objective learned; training goes on from that, not from the
// fit.
TEST_F(TrainSettings, BixseContinuesFromWhatItLearnedAndNotFromAFit) {
  const std::vector<std::string> still = {"--set", "objective.name=bixse", "--set",
                                          "optimizer.learning_rate=0"};
  WriteFileAtomically(Path("base/tandem.json"), R"({"format": 1, "probability":
      {"method": "platt", "scale": 3, "bias": 1, "similarity": "cosine"},
      "learned": {"objective": "bixse", "scale": 17, "bias": -2}})");
  const ProgramResult result = Train("fitted", still);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("bixse continues from scale 17 and bias -2 of"));
  const Json saved = Read("fitted/model/tandem.json");
  EXPECT_EQ(saved["probability"]["method"], "objective");
  EXPECT_EQ(saved["probability"]["scale"], 17);
  EXPECT_FALSE(saved.contains("learned"));
}

// A run that continues from a model's scale and bias is resumed with them.
TEST_F(TrainSettings, AContinuedRunCanBeResumed) {
  ASSERT_EQ(Train("first", {"--set", "objective.name=bixse"}).exit_code, 0);
  const std::vector<std::string> further = {"--set", "objective.name=bixse", "--set",
                                            "model.base=" + Path("first/model")};
  ASSERT_EQ(Train("run", further).exit_code, 0);
  std::vector<std::string> resume = further;
  resume.push_back("--resume");
  const ProgramResult again = Train("run", resume);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("this run is finished"));
}

}  // namespace
}  // namespace tandem
