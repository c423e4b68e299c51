// Weights and token ids that one integer formula gives here and in
// tools/golden/make_encoder_golden.py, and model folders of any architecture with them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

#include "weights/encoder_spec.h"
#include "weights/modules/head_module.h"
#include "weights/safetensors/dtype.h"

namespace tandem {

// n / 1024 times a power of two, n an integer from -1024 to 1024 that the name and the place
// decide: around 0 for matrices, by the width of their rows, and biases; around 1 for a norm's
// weights.
std::vector<float> FormulaValues(std::string_view name, const weights::Shape& shape);

// The ids of text number `text`, from 3 up to the vocabulary's size.
std::vector<int32_t> FormulaIds(int text, int64_t length, int64_t vocabulary);

// Words that the folder's tokenizer knows are TinyWords(); a config.json of its own needs at least
// so many rows of the word table.
int64_t FormulaVocabulary();

struct FormulaFolderOptions {
  std::string_view prefix = {};                 // before each name of a tensor
  weights::Dtype dtype = weights::Dtype::kF32;  // of the weights
  // Tensors beside the encoder's, without the prefix: heads of tasks.
  std::vector<weights::ModuleParameter> further = {};
};

// A sentence-transformers folder of this config.json (with its vocab_size), mean pooling.
void WriteFormulaFolder(const std::filesystem::path& folder, const nlohmann::json& config,
                        const FormulaFolderOptions& options = {});

}  // namespace tandem
