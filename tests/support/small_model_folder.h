// A tiny BERT folder in the shape of a real one, for tests: 2 layers, 8 columns, 32 words.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "base/random.h"
#include "weights/safetensors/safetensors_writer.h"

namespace tandem::weights {

struct SmallTensor {
  std::string name;
  Shape shape;
  std::vector<float> values;
};

// Tensors of a BertModel with these sizes, values uniform in [-0.1, 0.1) from a fixed seed, and
// with a pooler that no sentence encoder uses.
inline std::vector<SmallTensor> SmallBertTensors(const std::string& prefix = "") {
  constexpr int64_t kHidden = 8;
  constexpr int64_t kIntermediate = 16;
  std::vector<std::pair<std::string, Shape>> specification = {
      {"embeddings.word_embeddings.weight", {32, kHidden}},
      {"embeddings.position_embeddings.weight", {24, kHidden}},
      {"embeddings.token_type_embeddings.weight", {2, kHidden}},
      {"embeddings.LayerNorm.weight", {kHidden}},
      {"embeddings.LayerNorm.bias", {kHidden}},
      {"pooler.dense.weight", {kHidden, kHidden}},
      {"pooler.dense.bias", {kHidden}},
  };
  for (const char* layer : {"encoder.layer.0.", "encoder.layer.1."}) {
    const auto linear = [&](const std::string& name, int64_t out, int64_t in) {
      specification.push_back({layer + name + ".weight", {out, in}});
      specification.push_back({layer + name + ".bias", {out}});
    };
    const auto norm = [&](const std::string& name) {
      specification.push_back({layer + name + ".weight", {kHidden}});
      specification.push_back({layer + name + ".bias", {kHidden}});
    };
    for (const char* part : {"query", "key", "value"}) {
      linear(std::string("attention.self.") + part, kHidden, kHidden);
    }
    linear("attention.output.dense", kHidden, kHidden);
    norm("attention.output.LayerNorm");
    linear("intermediate.dense", kIntermediate, kHidden);
    linear("output.dense", kHidden, kIntermediate);
    norm("output.LayerNorm");
  }
  RandomStream random({.seed = 11, .purpose = "small model"});
  std::vector<SmallTensor> tensors;
  for (const auto& [name, shape] : specification) {
    size_t count = 1;
    for (const int64_t size : shape) count *= static_cast<size_t>(size);
    SmallTensor tensor{prefix + name, shape, std::vector<float>(count)};
    for (float& value : tensor.values) value = static_cast<float>(random.Uniform() * 0.2 - 0.1);
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

inline void WriteTensors(const std::filesystem::path& path,
                         const std::vector<SmallTensor>& tensors) {
  std::vector<TensorToWrite> to_write;
  for (const SmallTensor& tensor : tensors) {
    to_write.push_back(Float32Tensor(tensor.name, tensor.shape, tensor.values));
  }
  const std::string positions(24 * 8, '\0');  // the I64 tensor that old folders carry
  to_write.push_back({.name = "embeddings.position_ids",
                      .dtype = Dtype::kI64,
                      .shape = {1, 24},
                      .bytes = positions});
  WriteSafetensors(path, to_write);
}

inline constexpr const char* kSmallConfig = R"({
  "architectures": ["BertModel"],
  "model_type": "bert",
  "hidden_act": "gelu",
  "hidden_size": 8,
  "intermediate_size": 16,
  "layer_norm_eps": 1e-12,
  "hidden_dropout_prob": 0.1,
  "attention_probs_dropout_prob": 0.2,
  "max_position_embeddings": 24,
  "num_attention_heads": 2,
  "num_hidden_layers": 2,
  "type_vocab_size": 2,
  "vocab_size": 32
})";

// Mean pooling, then Normalize without a folder, as all-MiniLM-L6-v2 has it.
inline constexpr const char* kSmallModules = R"([
  {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
  {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
  {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}
])";

inline void WriteText(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::create_directories(path.parent_path());
  WriteFileAtomically(path, text);
}

// Writes the whole folder except a tokenizer.
inline void WriteSmallModel(const std::filesystem::path& folder) {
  WriteText(folder / "config.json", kSmallConfig);
  WriteText(folder / "modules.json", kSmallModules);
  WriteText(folder / "1_Pooling/config.json",
            R"({"word_embedding_dimension": 8, "pooling_mode_mean_tokens": true,
                "pooling_mode_cls_token": false})");
  WriteText(folder / "sentence_bert_config.json", R"({"max_seq_length": 16})");
  WriteTensors(folder / "model.safetensors", SmallBertTensors());
}

}  // namespace tandem::weights
