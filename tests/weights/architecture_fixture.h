// Configurations of each kind of encoder, and a fixture that reads them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "support/error_matching.h"
#include "support/small_model_folder.h"
#include "support/temporary_folder.h"
#include "support/test_data.h"
#include "weights/architecture.h"

namespace tandem::weights {

using nlohmann::json;

inline json Changed(json config, const json& changes) {
  config.update(changes);
  return config;
}

inline json Bert() { return json::parse(kSmallConfig); }
inline json Decoder(const std::string& type) {
  return {{"model_type", type},       {"vocab_size", 40},
          {"hidden_size", 32},        {"num_hidden_layers", 4},
          {"num_attention_heads", 4}, {"num_key_value_heads", 2},
          {"intermediate_size", 24},  {"max_position_embeddings", 100},
          {"sliding_window", 8}};
}
inline json ModernBert() {
  return {{"model_type", "modernbert"}, {"vocab_size", 40},         {"hidden_size", 32},
          {"num_hidden_layers", 6},     {"num_attention_heads", 2}, {"intermediate_size", 24}};
}
inline json Gemma() { return Changed(Decoder("gemma3_text"), {{"head_dim", 16}}); }
inline json T5() {
  return {{"model_type", "t5"}, {"vocab_size", 40}, {"d_model", 16}, {"num_layers", 2},
          {"num_heads", 2},     {"d_kv", 4},        {"d_ff", 24}};
}
inline json DistilBert() {
  return {{"model_type", "distilbert"},
          {"vocab_size", 40},
          {"dim", 16},
          {"n_layers", 2},
          {"n_heads", 2},
          {"hidden_dim", 24}};
}

class ArchitectureTest : public testing::Test {
 protected:
  EncoderSpec Read(const json& config, const std::optional<bool>& is_causal = {}) {
    WriteText(path(), config.dump());
    return ReadEncoderSpec(path(), is_causal);
  }
  std::filesystem::path path() const { return folder_.path() / "config.json"; }
  // Expects the message "what", after the file's name.
  void ExpectMessage(const json& config, const std::string& what) {
    try {
      Read(config);
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::kModel);
      EXPECT_EQ(std::string(error.what()), path().native() + ": " + what);
      return;
    }
    ADD_FAILURE() << "no error: " << what;
  }
  static std::vector<int64_t> Windows(const EncoderSpec& spec) {
    std::vector<int64_t> windows;
    for (const LayerSpec& layer : spec.layers) windows.push_back(layer.attention.window);
    return windows;
  }
  static std::vector<int> Rotaries(const EncoderSpec& spec) {
    std::vector<int> rotaries;
    for (const LayerSpec& layer : spec.layers) rotaries.push_back(layer.attention.rotary);
    return rotaries;
  }

  TemporaryFolder folder_;
};

}  // namespace tandem::weights
