// A small BERT model folder with random weights, for tests that need a whole model quickly.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

struct TinyModelOptions {
  uint64_t seed = 1;
  int64_t hidden = 32;  // a multiple of heads; multiples of 16 take the fused forms
  int64_t heads = 2;
  int64_t intermediate = 64;
  int64_t layers = 2;
  int64_t max_positions = 64;
  double dropout = 0.1;
  bool dense = false;            // a 2_Dense module (hidden -> 16, tanh) after the pooling
  std::string pooling = "mean";  // or "cls"
};

// Words that the tiny model's vocabulary holds besides letters: "alpha", "beta", ...
std::vector<std::string> TinyWords();

// The lines of its vocab.txt.
std::string TinyVocabulary();

// Writes a sentence-transformers folder: config.json, vocab.txt, weights, modules, pooling.
void WriteTinyModel(const std::filesystem::path& folder, const TinyModelOptions& options = {});

// Makes every number of a tensor of a safetensors file this one; the others stay as they are, in
// float32.
void FillTensor(const std::filesystem::path& file, std::string_view name, float value);

}  // namespace tandem
