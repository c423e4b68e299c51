#include "support/tiny_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/files/files.h"
#include "base/random.h"
#include "weights/safetensors/safetensors.h"
#include "weights/safetensors/safetensors_writer.h"

namespace tandem {
namespace {

using weights::Shape;

class TensorMaker {
 public:
  explicit TensorMaker(uint64_t seed) : stream_({.seed = seed, .purpose = "tiny model"}) {}

  // Uniform in centre +- spread.
  void Add(const std::string& name, const Shape& shape, float centre, float spread) {
    size_t count = 1;
    for (const int64_t size : shape) count *= static_cast<size_t>(size);
    std::vector<float>& values = values_[name];
    for (size_t i = 0; i < count; ++i) {
      values.push_back(centre + spread * static_cast<float>(2 * stream_.Uniform() - 1));
    }
    shapes_[name] = shape;
  }
  void AddLinear(const std::string& name, int64_t out, int64_t in) {
    Add(name + ".weight", {out, in}, 0, 0.3F);
    Add(name + ".bias", {out}, 0, 0.1F);
  }
  void AddNorm(const std::string& name, int64_t width) {
    Add(name + ".weight", {width}, 1, 0.1F);
    Add(name + ".bias", {width}, 0, 0.1F);
  }
  void Write(const std::filesystem::path& path) const {
    std::vector<weights::TensorToWrite> tensors;
    for (const auto& [name, values] : values_) {
      tensors.push_back(weights::Float32Tensor(name, shapes_.at(name), values));
    }
    weights::WriteSafetensors(path, tensors);
  }

 private:
  RandomStream stream_;
  std::map<std::string, std::vector<float>> values_;
  std::map<std::string, Shape> shapes_;
};

int64_t VocabularySize() { return 5 + 72 + static_cast<int64_t>(TinyWords().size()); }

void WriteWeights(const std::filesystem::path& folder, const TinyModelOptions& o) {
  TensorMaker maker(o.seed);
  maker.Add("embeddings.word_embeddings.weight", {VocabularySize(), o.hidden}, 0, 1);
  maker.Add("embeddings.position_embeddings.weight", {o.max_positions, o.hidden}, 0, 0.3F);
  maker.Add("embeddings.token_type_embeddings.weight", {2, o.hidden}, 0, 0.1F);
  maker.AddNorm("embeddings.LayerNorm", o.hidden);
  for (int64_t i = 0; i < o.layers; ++i) {
    const std::string layer = fmt::format("encoder.layer.{}.", i);
    for (const char* part : {"query", "key", "value"}) {
      maker.AddLinear(layer + "attention.self." + part, o.hidden, o.hidden);
    }
    maker.AddLinear(layer + "attention.output.dense", o.hidden, o.hidden);
    maker.AddNorm(layer + "attention.output.LayerNorm", o.hidden);
    maker.AddLinear(layer + "intermediate.dense", o.intermediate, o.hidden);
    maker.AddLinear(layer + "output.dense", o.hidden, o.intermediate);
    maker.AddNorm(layer + "output.LayerNorm", o.hidden);
  }
  maker.AddLinear("pooler.dense", o.hidden, o.hidden);  // carried through, as in real folders
  maker.Write(folder / "model.safetensors");
}

std::string Modules(bool dense) {
  const auto module = [](int index, const char* path, const char* type) {
    return fmt::format(
        R"({{"idx": {}, "name": "{}", "path": "{}", "type": "sentence_transformers.models.{}"}})",
        index, index, path, type);
  };
  std::string text = "[" + module(0, "", "Transformer") + ", " + module(1, "1_Pooling", "Pooling");
  if (dense) text += ", " + module(2, "2_Dense", "Dense");
  return text + ", " + module(dense ? 3 : 2, dense ? "3_Normalize" : "2_Normalize", "Normalize") +
         "]";
}

void WriteDense(const std::filesystem::path& folder, const TinyModelOptions& o) {
  MakeFolder(folder);
  TensorMaker maker(o.seed + 1);
  maker.AddLinear("linear", 16, o.hidden);
  maker.Write(folder / "model.safetensors");
  WriteFileAtomically(folder / "config.json",
                      fmt::format(R"({{"in_features": {}, "out_features": 16, "bias": true,
 "activation_function": "torch.nn.modules.activation.Tanh"}})",
                                  o.hidden));
}

}  // namespace

std::vector<std::string> TinyWords() {
  return {"alpha", "beta", "gamma", "delta", "fast",  "slow",   "red",    "green",
          "blue",  "file", "graph", "music", "photo", "editor", "server", "game"};
}

std::string TinyVocabulary() {
  std::string lines = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (const char* prefix : {"", "##"}) {
    for (char c = 'a'; c <= 'z'; ++c) lines += fmt::format("{}{}\n", prefix, c);
    for (char c = '0'; c <= '9'; ++c) lines += fmt::format("{}{}\n", prefix, c);
  }
  for (const std::string& word : TinyWords()) lines += word + "\n";
  return lines;
}

void WriteTinyModel(const std::filesystem::path& folder, const TinyModelOptions& o) {
  MakeFolder(folder / "1_Pooling");
  WriteFileAtomically(
      folder / "config.json",
      fmt::format(R"({{"model_type": "bert", "architectures": ["BertModel"], "vocab_size": {},
 "hidden_size": {}, "num_hidden_layers": {}, "num_attention_heads": {}, "intermediate_size": {},
 "max_position_embeddings": {}, "type_vocab_size": 2, "hidden_act": "gelu",
 "layer_norm_eps": 1e-12, "hidden_dropout_prob": {}, "attention_probs_dropout_prob": {}}})",
                  VocabularySize(), o.hidden, o.layers, o.heads, o.intermediate, o.max_positions,
                  o.dropout, o.dropout));
  WriteFileAtomically(folder / "vocab.txt", TinyVocabulary());
  WriteFileAtomically(folder / "tokenizer_config.json",
                      R"({"tokenizer_class": "BertTokenizer", "do_lower_case": true})");
  WriteFileAtomically(folder / "modules.json", Modules(o.dense));
  WriteFileAtomically(folder / "1_Pooling" / "config.json",
                      fmt::format(R"({{"word_embedding_dimension": {}, "pooling_mode_cls_token": {},
 "pooling_mode_mean_tokens": {}, "pooling_mode_max_tokens": false,
 "pooling_mode_mean_sqrt_len_tokens": false}})",
                                  o.hidden, o.pooling == "cls", o.pooling == "mean"));
  WriteFileAtomically(
      folder / "sentence_bert_config.json",
      fmt::format(R"({{"max_seq_length": {}, "do_lower_case": false}})", o.max_positions));
  WriteWeights(folder, o);
  if (o.dense) WriteDense(folder / "2_Dense", o);
}

void FillTensor(const std::filesystem::path& file, std::string_view name, float value) {
  const weights::SafetensorsFile before(file);
  std::vector<std::vector<float>> values;
  values.reserve(before.tensors().size());
  std::vector<weights::TensorToWrite> tensors;
  for (const weights::TensorView& view : before.tensors()) {
    std::vector<float>& own = values.emplace_back(weights::ToFloat32(view));
    if (view.name == name) std::fill(own.begin(), own.end(), value);
    tensors.push_back(weights::Float32Tensor(view.name, view.shape, own));
  }
  weights::WriteSafetensors(file, tensors);
}

}  // namespace tandem
