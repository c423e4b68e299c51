// model.layers and model.reinitialize_layers: fewer layers, and layers that start anew.
#include "model/training/new_layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "model/dual_encoder.h"
#include "model/encoders/formula_weights.h"
#include "support/error_matching.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"
#include "weights/folders/model_folder.h"
#include "weights/safetensors/weight_files.h"

namespace tandem::model {
namespace {

using testing::HasSubstr;
using weights::Towers;
using Json = nlohmann::json;
using Values = std::map<std::string, std::vector<float>>;

class NewLayers : public testing::Test {
 protected:
  NewLayers() { WriteTinyModel(Path("base"), {.layers = 3}); }
  std::filesystem::path Path(const std::string& name) const { return folder_.path() / name; }
  Values Load(const LoadOptions& options, const std::string& name = "base") const {
    Values values;
    for (const NamedParameter& parameter : DualEncoder::Load(Path(name), options)->Parameters()) {
      const auto* first = parameter.value.data_ptr<float>();
      values[parameter.name] = {first, first + parameter.value.numel()};
    }
    return values;
  }

  TemporaryFolder folder_;
};

std::string LayerName(int layer, const char* rest) {
  return "encoder.layer." + std::to_string(layer) + "." + rest;
}

TEST_F(NewLayers, TheFirstOnesAreKeptAndSavedAlone) {
  const Values all = Load({}), two = Load({.layers = 2});
  size_t of_third = 0;
  for (const auto& [name, values] : all) {
    if (name.starts_with("encoder.layer.2.")) {
      ++of_third;
      EXPECT_FALSE(two.contains(name)) << name;
    } else {
      EXPECT_EQ(two.at(name), values) << name;
    }
  }
  EXPECT_EQ(of_third, 16U);
  EXPECT_EQ(two.size() + of_third, all.size());
  DualEncoder::Load(Path("base"), {.layers = 2})->Save(Path("saved"));
  EXPECT_EQ(Json::parse(ReadFile(Path("saved/config.json")))["num_hidden_layers"], 2);
  EXPECT_EQ(Load({}, "saved"), two);
  const weights::WeightFiles files(Path("saved"));
  for (const weights::TensorView* view : files.tensors()) {
    EXPECT_THAT(view->name, testing::Not(HasSubstr("layer.2.")));
  }
}

TEST_F(NewLayers, AsManyAsThereAreChangeNothingAndMoreAreAnError) {
  DualEncoder::Load(Path("base"), {.layers = 3})->Save(Path("saved"));
  EXPECT_EQ(ReadFile(Path("saved/config.json")), ReadFile(Path("base/config.json")));
  for (const int64_t layers : {0, 4}) {
    ExpectError([&] { Load({.layers = layers}); }, ExitCode::kUsage,
                {"is " + std::to_string(layers), "has 3 layers; give a number from 1 to 3"});
  }
}

// Kinds of layers are a list, which other programs want as long as the number of layers.
TEST_F(NewLayers, ListsOfConfigAreCutToo) {
  const Json config = {{"model_type", "qwen3"},
                       {"vocab_size", FormulaVocabulary()},
                       {"hidden_size", 32},
                       {"num_hidden_layers", 3},
                       {"num_attention_heads", 2},
                       {"num_key_value_heads", 1},
                       {"head_dim", 16},
                       {"intermediate_size", 48},
                       {"max_position_embeddings", 64},
                       {"use_sliding_window", true},
                       {"sliding_window", 4},
                       {"is_causal", true},
                       {"layer_types", {"full_attention", "sliding_attention", "full_attention"}}};
  WriteFormulaFolder(Path("decoder"), config);
  DualEncoder::Load(Path("decoder"), {.is_causal = false, .layers = 2})->Save(Path("saved"));
  const Json saved = Json::parse(ReadFile(Path("saved/config.json")));
  EXPECT_EQ(saved["num_hidden_layers"], 2);
  EXPECT_EQ(saved["layer_types"], Json({"full_attention", "sliding_attention"}));
  EXPECT_EQ(saved["is_causal"], false);
  EXPECT_EQ(Load({}, "saved").size(), Load({.layers = 2}, "decoder").size());
}

TEST_F(NewLayers, BothTowersAreCut) {
  DualEncoder::Load(Path("base"), {.layers = 1, .towers = Towers::kSeparate})->Save(Path("saved"));
  for (const auto& [name, values] : Load({}, "saved")) {
    EXPECT_THAT(name, testing::Not(HasSubstr("layer.1."))) << name;
  }
}

TEST_F(NewLayers, TheLastOnesStartAsBertStartsThem) {
  const Values before = Load({}), after = Load({.reinitialize_layers = 1, .seed = 7});
  double sum = 0, squares = 0, count = 0;
  for (const auto& [name, values] : after) {
    SCOPED_TRACE(name);
    if (!name.starts_with("encoder.layer.2.")) {
      EXPECT_EQ(values, before.at(name));
    } else if (name.ends_with(".bias")) {
      EXPECT_EQ(values, std::vector<float>(values.size(), 0));
    } else if (name.ends_with("LayerNorm.weight")) {
      EXPECT_EQ(values, std::vector<float>(values.size(), 1));
    } else {
      EXPECT_NE(values, before.at(name));
      for (const float value : values) {
        sum += value;
        squares += value * value;
        count += 1;
      }
    }
  }
  ASSERT_EQ(count, 4 * 32 * 32 + 2 * 32 * 64);
  // Standard errors: 0.02 / sqrt(8192) of the mean, 0.02 / sqrt(2 * 8192) of the deviation.
  EXPECT_NEAR(sum / count, 0, 0.001);
  EXPECT_NEAR(std::sqrt(squares / count), 0.02, 0.0008);
  const std::string query = LayerName(2, "attention.self.query.weight");
  const std::string key = LayerName(2, "attention.self.key.weight");
  EXPECT_NE(after.at(query), after.at(key));
  EXPECT_EQ(Load({.reinitialize_layers = 1, .seed = 7}), after);
  EXPECT_NE(Load({.reinitialize_layers = 1, .seed = 8}).at(query), after.at(query));
}

TEST_F(NewLayers, TheDeviationIsConfigsAndTheLayersAreThoseThatAreKept) {
  Json config = Json::parse(ReadFile(Path("base/config.json")));
  config["initializer_range"] = 0.5;
  WriteFileAtomically(Path("base/config.json"), config.dump());
  const Values before = Load({}), after = Load({.layers = 2, .reinitialize_layers = 1});
  const std::string name = "attention.self.query.weight";
  EXPECT_EQ(after.at(LayerName(0, name.c_str())), before.at(LayerName(0, name.c_str())));
  double squares = 0;
  for (const float value : after.at(LayerName(1, name.c_str()))) squares += value * value;
  EXPECT_NEAR(std::sqrt(squares / 1024), 0.5, 0.05);
}

TEST_F(NewLayers, WhatIsFrozenCannotStartAnew) {
  ExpectError([&] { Load({.reinitialize_layers = 4}); }, ExitCode::kUsage,
              {"is 4, but the encoder of", "has 3 layers"});
  for (const TrainingOptions& training :
       {TrainingOptions{.freeze = {"layers.2"}}, TrainingOptions{.what = Trained::kLora}}) {
    ExpectError([&] { Load({.reinitialize_layers = 1, .training = training}); }, ExitCode::kUsage,
                {"starts layer 2 of", "anew (from 0), which is frozen"});
  }
  EXPECT_NO_THROW(Load({.reinitialize_layers = 1, .training = {.freeze = {"layers.0-1"}}}));
}

TEST_F(NewLayers, ACalibrationOfOtherScoresIsDropped) {
  const std::string calibration = R"({"format": 1, "objective": "bixse",
      "probability": {"scale": 20, "bias": -9.5, "similarity": "cosine"}})";
  WriteFileAtomically(Path("base/tandem.json"), calibration);
  const auto keeps = [&](const LoadOptions& options) {
    return DualEncoder::Load(Path("base"), options)->calibration().has_value();
  };
  EXPECT_TRUE(keeps({}));
  EXPECT_TRUE(keeps({.layers = 3}));
  EXPECT_FALSE(keeps({.layers = 2}));
  EXPECT_FALSE(keeps({.reinitialize_layers = 1}));
}

}  // namespace
}  // namespace tandem::model
