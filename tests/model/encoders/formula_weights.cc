#include "model/encoders/formula_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "base/files/files.h"
#include "support/tiny_model.h"
#include "weights/architecture.h"
#include "weights/safetensors/safetensors_writer.h"
#include "weights/settings/settings_file.h"

namespace tandem {
namespace {

uint64_t Fnv1a64(std::string_view text) {
  uint64_t value = 0xCBF29CE484222325U;
  for (const char byte : text) value = (value ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
  return value;
}

// A number that looks random, from a name's hash and a place.
uint64_t Mixed(uint64_t x) {
  x *= 0x9E3779B97F4A7C15U;
  x ^= x >> 32;
  x *= 0xBF58476D1CE4E5B9U;
  x ^= x >> 29;
  return x >> 11;
}

// The values as bytes of a file's type, rounded to nearest for BF16.
std::string BytesOf(const std::vector<float>& values, weights::Dtype dtype) {
  std::string bytes;
  for (const float value : values) {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    size_t size = sizeof bits;
    if (dtype == weights::Dtype::kBF16) {
      bits = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
      size = 2;
    }
    bytes.append(reinterpret_cast<const char*>(&bits), size);
  }
  return bytes;
}

void WriteWeights(const std::filesystem::path& path, const weights::EncoderSpec& spec,
                  const FormulaFolderOptions& options) {
  std::deque<std::string> bytes;
  std::vector<weights::TensorToWrite> tensors;
  const auto add = [&](std::string_view prefix, const std::string& name,
                       const weights::Shape& shape) {
    bytes.push_back(BytesOf(FormulaValues(name, shape), options.dtype));
    tensors.push_back({std::string(prefix) + name, options.dtype, shape, bytes.back()});
  };
  for (const weights::EncoderTensor& tensor : spec.tensors) {
    add(options.prefix, tensor.name, tensor.shape);
  }
  for (const weights::ModuleParameter& tensor : options.further) {
    add("", tensor.name, tensor.shape);
  }
  weights::WriteSafetensors(path, tensors);
}

}  // namespace

std::vector<float> FormulaValues(std::string_view name, const weights::Shape& shape) {
  size_t count = 1;
  for (const int64_t size : shape) count *= static_cast<size_t>(size);
  int64_t power = 1;
  while (shape.size() == 2 && power * power < shape[1]) power *= 2;
  const bool norm = shape.size() == 1 && name.ends_with(".weight");
  const uint64_t hash = Fnv1a64(name);
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i) {
    const double value = (static_cast<double>(Mixed(hash + i) % 2049) - 1024) / 1024;
    values.push_back(static_cast<float>(shape.size() == 2 ? value / static_cast<double>(power)
                                        : norm            ? 1 + value / 4
                                                          : value / 8));
  }
  return values;
}

std::vector<int32_t> FormulaIds(int text, int64_t length, int64_t vocabulary) {
  const uint64_t hash = Fnv1a64(fmt::format("text {}", text));
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < length; ++i) {
    const uint64_t number = Mixed(hash + static_cast<uint64_t>(i));
    ids.push_back(static_cast<int32_t>(3 + number % static_cast<uint64_t>(vocabulary - 3)));
  }
  return ids;
}

int64_t FormulaVocabulary() {
  const std::string lines = TinyVocabulary();
  return std::count(lines.begin(), lines.end(), '\n');
}

namespace {

// Qwen2's class reads no vocab.txt: the same tokens as characters and words of a BPE without
// merges.
std::string BpeOfTinyVocabulary() {
  nlohmann::json vocabulary;
  std::istringstream lines(TinyVocabulary());
  int64_t id = 0;
  for (std::string token; std::getline(lines, token);) vocabulary[token] = id++;
  const nlohmann::json model = {{"type", "BPE"},
                                {"dropout", nullptr},
                                {"unk_token", nullptr},
                                {"continuing_subword_prefix", ""},
                                {"end_of_word_suffix", ""},
                                {"fuse_unk", false},
                                {"byte_fallback", false},
                                {"vocab", vocabulary},
                                {"merges", nlohmann::json::array()}};
  return nlohmann::json{{"version", "1.0"},
                        {"truncation", nullptr},
                        {"padding", nullptr},
                        {"added_tokens", nlohmann::json::array()},
                        {"normalizer", nullptr},
                        {"pre_tokenizer", nullptr},
                        {"post_processor", nullptr},
                        {"decoder", nullptr},
                        {"model", model}}
      .dump();
}

void WriteTinyTokenizer(const std::filesystem::path& folder, const nlohmann::json& config) {
  if (config.value("model_type", "") == "qwen2") {
    WriteFileAtomically(folder / "tokenizer.json", BpeOfTinyVocabulary());
    return;
  }
  WriteFileAtomically(folder / "vocab.txt", TinyVocabulary());
  WriteFileAtomically(folder / "tokenizer_config.json",
                      R"({"tokenizer_class": "BertTokenizer", "do_lower_case": true})");
}

}  // namespace

void WriteFormulaFolder(const std::filesystem::path& folder, const nlohmann::json& config,
                        const FormulaFolderOptions& options) {
  MakeFolder(folder / "1_Pooling");
  WriteFileAtomically(folder / "config.json", config.dump(2));
  WriteTinyTokenizer(folder, config);
  WriteFileAtomically(
      folder / "modules.json",
      R"([{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
 {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])");
  const weights::EncoderSpec spec = weights::ReadEncoderSpec(folder / "config.json");
  WriteFileAtomically(folder / "1_Pooling" / "config.json",
                      fmt::format(R"({{"word_embedding_dimension": {}}})", spec.hidden_size));
  WriteWeights(folder / "model.safetensors", spec, options);
}

}  // namespace tandem
