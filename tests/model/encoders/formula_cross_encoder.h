// Folders of small cross-encoders with the formula's weights, as
// tools/golden/make_cross_encoder_golden.py makes them.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace tandem {

// tests/model/golden/cross_encoders.json.
const nlohmann::json& CrossEncoderGolden();

// The case of this name; throws std::out_of_range.
const nlohmann::json& CrossEncoderCase(const std::string& name);

// What transformers saves: config.json, tokenizer.json, tokenizer_config.json, model.safetensors.
// `prefix` stands before the names of the encoder's tensors, as in files of transformers ("bert.").
void WriteCrossEncoder(const std::filesystem::path& folder, const nlohmann::json& one,
                       const std::string& prefix = "");

}  // namespace tandem
