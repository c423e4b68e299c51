#include "weights/encoder_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "base/error.h"
#include "weights/settings_file.h"

namespace tandem::weights {
namespace {

// Larger than any published encoder, small enough that no product of two overflows.
constexpr int64_t kMaxSize = int64_t{1} << 24;
constexpr int64_t kMaxLayers = 10'000;

constexpr const char* kSupported[] = {"bert"};

void CheckArchitecture(const Settings& settings) {
  const std::string type = settings.RequiredString("model_type");
  for (const char* supported : kSupported) {
    if (type == supported) return;
  }
  throw ModelError(settings.file(), "",
                   fmt::format("the architecture '{}' is not supported; supported: {}", type,
                               SupportedArchitectures()));
}

// BERT variants that compute something else with the same tensors.
void CheckVariant(const Settings& settings) {
  if (settings.String("position_embedding_type").value_or("absolute") != "absolute") {
    settings.Fail("position_embedding_type", "\"absolute\" (the only supported one)");
  }
  for (const char* key : {"is_decoder", "add_cross_attention"}) {
    if (settings.Boolean(key).value_or(false)) settings.Fail(key, "false (an encoder)");
  }
}

void AddLinear(std::vector<EncoderTensor>* tensors, const std::string& name, int64_t out,
               int64_t in) {
  tensors->push_back({name + ".weight", {out, in}});
  tensors->push_back({name + ".bias", {out}});
}

void AddLayerNorm(std::vector<EncoderTensor>* tensors, const std::string& name, int64_t width) {
  tensors->push_back({name + ".weight", {width}});
  tensors->push_back({name + ".bias", {width}});
}

const TensorView* FindSpelled(const WeightFiles& weights, const std::string& name) {
  for (const char* prefix : {"", "bert."}) {
    if (const TensorView* view = weights.Find(prefix + name)) return view;
  }
  return nullptr;
}

const TensorView* FindTensor(const WeightFiles& weights, const std::string& name) {
  if (const TensorView* view = FindSpelled(weights, name)) return view;
  for (const auto& [ending, older] : {std::pair("LayerNorm.weight", "LayerNorm.gamma"),
                                      std::pair("LayerNorm.bias", "LayerNorm.beta")}) {
    if (!name.ends_with(ending)) continue;
    const size_t stem = name.size() - std::string_view(ending).size();
    return FindSpelled(weights, name.substr(0, stem) + older);
  }
  return nullptr;
}

}  // namespace

std::string SupportedArchitectures() { return fmt::format("{}", fmt::join(kSupported, ", ")); }

EncoderConfig ReadEncoderConfig(const std::filesystem::path& path) {
  const Settings settings = Settings::Read(path);
  CheckArchitecture(settings);
  CheckVariant(settings);
  EncoderConfig config;
  config.model_type = *settings.String("model_type");
  config.vocabulary_size = settings.RequiredInteger("vocab_size", 1, kMaxSize);
  config.hidden_size = settings.RequiredInteger("hidden_size", 1, kMaxSize);
  config.layers = settings.RequiredInteger("num_hidden_layers", 1, kMaxLayers);
  config.heads = settings.RequiredInteger("num_attention_heads", 1, kMaxSize);
  config.intermediate_size = settings.RequiredInteger("intermediate_size", 1, kMaxSize);
  config.max_positions = settings.RequiredInteger("max_position_embeddings", 1, kMaxSize);
  config.type_vocabulary_size =
      settings.Integer("type_vocab_size", 1, kMaxSize).value_or(config.type_vocabulary_size);
  config.activation = settings.String("hidden_act").value_or(config.activation);
  config.layer_norm_epsilon =
      settings.Number("layer_norm_eps", 0, 1).value_or(config.layer_norm_epsilon);
  config.hidden_dropout =
      settings.Number("hidden_dropout_prob", 0, 0.99).value_or(config.hidden_dropout);
  config.attention_dropout =
      settings.Number("attention_probs_dropout_prob", 0, 0.99).value_or(config.attention_dropout);
  if (config.hidden_size % config.heads != 0) {
    settings.Fail("num_attention_heads",
                  fmt::format("a divisor of hidden_size {}", config.hidden_size));
  }
  return config;
}

std::vector<EncoderTensor> EncoderTensorsOf(const EncoderConfig& config) {
  const int64_t hidden = config.hidden_size;
  std::vector<EncoderTensor> tensors;
  tensors.push_back({"embeddings.word_embeddings.weight", {config.vocabulary_size, hidden}});
  tensors.push_back({"embeddings.position_embeddings.weight", {config.max_positions, hidden}});
  tensors.push_back(
      {"embeddings.token_type_embeddings.weight", {config.type_vocabulary_size, hidden}});
  AddLayerNorm(&tensors, "embeddings.LayerNorm", hidden);
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    const std::string name = fmt::format("encoder.layer.{}.", layer);
    for (const char* part : {"query", "key", "value"}) {
      AddLinear(&tensors, name + "attention.self." + part, hidden, hidden);
    }
    AddLinear(&tensors, name + "attention.output.dense", hidden, hidden);
    AddLayerNorm(&tensors, name + "attention.output.LayerNorm", hidden);
    AddLinear(&tensors, name + "intermediate.dense", config.intermediate_size, hidden);
    AddLinear(&tensors, name + "output.dense", hidden, config.intermediate_size);
    AddLayerNorm(&tensors, name + "output.LayerNorm", hidden);
  }
  return tensors;
}

void BindEncoderTensors(const WeightFiles& weights, std::vector<EncoderTensor>* tensors) {
  for (EncoderTensor& tensor : *tensors) {
    tensor.view = FindTensor(weights, tensor.name);
    if (tensor.view == nullptr) {
      throw ModelError(
          weights.folder().native(), tensor.name,
          fmt::format("the weights lack it; config.json asks for {}", ShapeText(tensor.shape)));
    }
    const std::string& file = weights.FileOf(tensor.view->name).native();
    if (tensor.view->shape != tensor.shape) {
      throw ModelError(file, tensor.view->name,
                       fmt::format("has shape {}; {} expected from config.json",
                                   ShapeText(tensor.view->shape), ShapeText(tensor.shape)));
    }
    if (!IsComputable(tensor.view->dtype)) {
      throw ModelError(
          file, tensor.view->name,
          fmt::format("has type {}; F32, F16 or BF16 expected", DtypeName(tensor.view->dtype)));
    }
  }
}

}  // namespace tandem::weights
