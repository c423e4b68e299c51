// Trains every recipe of recipes/, with a model and data that this test makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "model/encoders/formula_weights.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"
#include "train/tiny_data.h"

namespace tandem {
namespace {

std::vector<std::string> Recipes() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(TANDEM_SOURCE_DIR) + "/recipes")) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().native());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class EveryRecipe : public testing::TestWithParam<std::string> {};

// A small encoder of the architecture that the recipe's model.base names.
nlohmann::json SmallConfig(const std::string& base) {
  const auto has = [&](const char* part) { return base.find(part) != base.npos; };
  const int64_t words = FormulaVocabulary();
  if (has("t5")) {
    return {{"model_type", "t5"}, {"vocab_size", words},
            {"d_model", 32},      {"d_kv", 16},
            {"d_ff", 48},         {"num_layers", 1},
            {"num_heads", 2},     {"feed_forward_proj", "gated-gelu"}};
  }
  nlohmann::json config = {{"vocab_size", words},      {"hidden_size", 32},
                           {"num_hidden_layers", 1},   {"num_attention_heads", 2},
                           {"intermediate_size", 48},  {"max_position_embeddings", 520},
                           {"num_key_value_heads", 1}, {"head_dim", 16}};
  config["model_type"] = has("xlm-roberta")  ? "xlm-roberta"
                         : has("ModernBERT") ? "modernbert"
                         : has("Qwen3")      ? "qwen3"
                         : has("Qwen2.5")    ? "qwen2"
                         : has("Llama")      ? "llama"
                                             : "bert";
  return config;
}

// The value of model.base in the recipe's text.
std::string BaseOf(const std::string& recipe) {
  const std::string key = "base = \"";
  const size_t first = recipe.find(key) + key.size();
  return recipe.substr(first, recipe.find('"', first) - first);
}

// Replaces paths and the number of steps; everything else stays the recipe's own.
TEST_P(EveryRecipe, TrainsThreeSteps) {
  const TemporaryFolder folder;
  const std::string path = folder.path().native();
  const std::string recipe = std::string(TANDEM_SOURCE_DIR) + "/recipes/" + GetParam() + ".toml";
  const nlohmann::json config = SmallConfig(BaseOf(ReadFile(recipe)));
  FormulaFolderOptions options;
  if (config["model_type"] == "modernbert") {  // as answerdotai/ModernBERT-base has it
    options.further = {{"head.dense.weight", {32, 32}}, {"head.norm.weight", {32}}};
  }
  WriteFormulaFolder(path + "/base", config, options);
  WriteTinyData(path + "/data", TinyWords());
  std::vector<std::string> arguments = {"train", recipe, "--output", path + "/run", "--quiet"};
  std::vector<std::string> sets = {"threads=1", "model.base=" + path + "/base",
                                   "data.train=" + path + "/data", "train.steps=3"};
  if (ReadFile(recipe).find("[validation]") != std::string::npos) {
    sets.push_back("validation.data=" + path + "/data");
  }
  for (const std::string& set : sets) arguments.insert(arguments.end(), {"--set", set});
  ProgramResult result = RunTandem(arguments);
  if (RefusesBf16(result)) {  // the recipe asks for it; everything else of it runs here too
    arguments.insert(arguments.end(), {"--set", "precision=fp32"});
    result = RunTandem(arguments);
  }
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(ReadFile(path + "/run/metrics.jsonl"),
              testing::HasSubstr("{\"event\":\"finished\",\"step\":3,"));
  // Two towers are two folders, or two weights beside one projection.
  size_t weights = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path + "/run/model")) {
    const std::string module = entry.path().parent_path().filename();
    weights += module != "2_Dense" && module != "3_LayerNorm" &&
               entry.path().filename() == "model.safetensors";
  }
  EXPECT_EQ(std::filesystem::exists(path + "/run/model/3_LayerNorm"),
            config["model_type"] == "modernbert");
  EXPECT_EQ(weights, GetParam().find("-ade") == std::string::npos ? 1U : 2U);
}

INSTANTIATE_TEST_SUITE_P(Shipped, EveryRecipe, testing::ValuesIn(Recipes()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

TEST(Recipes, AreAllDescribed) {
  const std::string page = ReadFile(std::string(TANDEM_SOURCE_DIR) + "/recipes/README.md");
  ASSERT_FALSE(Recipes().empty());
  for (const std::string& name : Recipes()) {
    EXPECT_THAT(page, testing::HasSubstr("`" + name + ".toml`"));
  }
}

}  // namespace
}  // namespace tandem
