// `tandem train` with ModernBERT's prediction head as pooler (model.head).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands/train/run_fixture.h"
#include "embeddings/layouts/npy.h"
#include "model/encoders/formula_weights.h"
#include "weights/safetensors/weight_files.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using testing::Not;

class TrainPredictionHead : public RunTest {
 protected:
  TrainPredictionHead()
      : RunTest("seed = 3\n" + kQuickRecipe + R"(
positive_grade = 2
negatives = 1
[optimizer]
learning_rate = 1e-2
[train]
batch = 8
steps = 4
checkpoint_every = "2 steps"
keep_checkpoints = 9
)") {
    WriteFormulaFolder(Path("modernbert"),
                       {{"model_type", "modernbert"},
                        {"vocab_size", FormulaVocabulary()},
                        {"hidden_size", 32},
                        {"num_hidden_layers", 1},
                        {"num_attention_heads", 2},
                        {"intermediate_size", 48},
                        {"max_position_embeddings", 64}},
                       {.prefix = "model.",
                        .further = {{"head.dense.weight", {32, 32}}, {"head.norm.weight", {32}}}});
  }
  std::vector<std::string> Flags(std::vector<std::string> sets = {}) const {
    sets.push_back("model.base=" + Path("modernbert"));
    sets.push_back("model.head=true");
    return SetFlags(sets);
  }
  std::vector<float> Tensor(const std::string& folder, const std::string& name) const {
    return weights::ToFloat32(*weights::WeightFiles(Path(folder)).Find(name));
  }
  std::vector<float> Encoded(const std::string& model) const {
    const ProgramResult result =
        RunTandem({"encode", "--model", Path(model), "--input", "-", "--output", Path("rows"),
                   "--kind", "query", "--force", "--quiet"},
                  "{\"_id\": \"x\", \"text\": \"alpha beta\"}\n");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const embeddings::MappedRows matrix = embeddings::ReadNpy(Path("rows/embeddings.npy"));
    return {matrix.values.begin(), matrix.values.end()};
  }
};

TEST_F(TrainPredictionHead, IsTrainedSavedAndResumed) {
  const ProgramResult run = Train("run", Flags());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(Tensor("run/model/2_Dense", "linear.weight"),
            FormulaValues("head.dense.weight", {32, 32}));
  EXPECT_NE(Tensor("run/model/3_LayerNorm", "norm.weight"),
            FormulaValues("head.norm.weight", {32}));
  EXPECT_NE(Tensor("run/model/3_LayerNorm", "norm.bias"), std::vector<float>(32, 0.0F));
  const std::string inspected = RunTandem({"inspect", Path("run/model")}).out;
  EXPECT_THAT(inspected, HasSubstr("32 -> 32, no bias, torch.nn.modules.activation.GELU"));
  EXPECT_THAT(inspected, HasSubstr("LayerNorm"));
  EXPECT_THAT(ReadFile(Path("run/recipe.resolved.toml")), HasSubstr("head = true\n"));
  ExpectTheSameFromEveryCheckpoint("run", Flags());
}

TEST_F(TrainPredictionHead, AloneWhereTheRecipeSaysSo) {
  const ProgramResult run = Train("run", Flags({"model.train=head"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("training 1088 of "));  // 32 * 32 + 32 + 32
  EXPECT_TRUE(ReadFile(Path("run/model/model.safetensors")) ==
              ReadFile(Path("modernbert/model.safetensors")));
  EXPECT_NE(Tensor("run/model/2_Dense", "linear.weight"),
            FormulaValues("head.dense.weight", {32, 32}));
  const ProgramResult frozen =
      Train("frozen", Flags({"model.train=head", "model.freeze=[\"head.dense\"]"}));
  ASSERT_EQ(frozen.exit_code, 0) << frozen.err;
  EXPECT_EQ(Tensor("frozen/model/2_Dense", "linear.weight"),
            FormulaValues("head.dense.weight", {32, 32}));
  EXPECT_NE(Tensor("frozen/model/3_LayerNorm", "norm.weight"),
            FormulaValues("head.norm.weight", {32}));
}

TEST_F(TrainPredictionHead, TheGradientCacheHasTheSameGradients) {
  std::vector<std::string> flags = Flags({"train.chunk_tokens=64"});
  flags.push_back("--check-gradient-cache");
  const ProgramResult checked = Train("", flags);
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
}

TEST_F(TrainPredictionHead, AModelThatHasItIsABaseToo) {
  ASSERT_EQ(Train("run", Flags()).exit_code, 0);
  const auto sets = [&](const std::string& head) {
    return SetFlags({"model.base=" + Path("run/model"), "model.head=" + head});
  };
  const ProgramResult again = Train("again", sets("true"));
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("has the prediction head as modules already"));
  ASSERT_EQ(Train("without", sets("false")).exit_code, 0);
  EXPECT_EQ(Encoded("again/model"), Encoded("without/model"));
  EXPECT_NE(Encoded("again/model"), Encoded("run/model"));
}

TEST_F(TrainPredictionHead, ProblemsNameTheLineOfTheRecipe) {
  std::string recipe = ReadFile(Path("recipe.toml"));
  const std::string base = "[model]\n";
  recipe.insert(recipe.find(base) + base.size(), "head = true\n");
  WriteFileAtomically(Path("recipe.toml"), recipe);
  const ProgramResult bert = Train("run");
  EXPECT_EQ(bert.exit_code, 2);
  EXPECT_THAT(bert.err,
              HasSubstr("recipe.toml:8:8: model.head is true, but " + Path("base") + ": its "));
  EXPECT_THAT(bert.err, HasSubstr("(bert) has no prediction head that could follow pooling; "
                                  "encoders with one: modernbert"));
  const ProgramResult checked = Train("", {"--check"});
  EXPECT_EQ(checked.exit_code, 2);
  EXPECT_EQ(checked.err, bert.err);
}

}  // namespace
}  // namespace tandem
