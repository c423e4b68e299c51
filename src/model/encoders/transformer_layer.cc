#include "model/encoders/transformer_layer.h"

#include <stdexcept>
#include <utility>

namespace tandem::model {
namespace {

using tensor::Linear;
using tensor::Norm;

Norm::Kind KindOf(weights::NormKind kind) {
  switch (kind) {
    case weights::NormKind::kLayerNorm:
      return Norm::Kind::kLayerNorm;
    case weights::NormKind::kRms:
      return Norm::Kind::kRms;
    case weights::NormKind::kRmsPlusOne:
      return Norm::Kind::kRmsPlusOne;
  }
  throw std::logic_error("a norm without a name");
}

tensor::Activation ActivationOf(weights::HiddenActivation activation) {
  switch (activation) {
    case weights::HiddenActivation::kGelu:
      return tensor::Activation::kGelu;
    case weights::HiddenActivation::kGeluTanh:
      return tensor::Activation::kGeluTanh;
    case weights::HiddenActivation::kRelu:
      return tensor::Activation::kRelu;
    case weights::HiddenActivation::kSilu:
      return tensor::Activation::kSilu;
  }
  throw std::logic_error("an activation without a name");
}

}  // namespace

tensor::Tensor ParameterReader::Read(const std::string& name, bool decay) {
  tensor::Tensor value = source_(name);
  parameters_.push_back({name, value, decay});
  return value;
}

tensor::Tensor ParameterReader::ReadTable(const std::string& name) {
  return name.empty() ? tensor::Tensor() : Read(name, true);
}

Linear ParameterReader::ReadLinear(const weights::LinearSpec& linear) {
  std::vector<tensor::Tensor> weights, biases;
  for (const std::string& name : linear.names) weights.push_back(Read(name + ".weight", true));
  if (linear.bias) {
    for (const std::string& name : linear.names) biases.push_back(Read(name + ".bias", false));
  }
  return {std::move(weights), std::move(biases)};
}

Norm ParameterReader::ReadNorm(const weights::NormSpec& norm) {
  Norm made{.kind = KindOf(spec_.norm), .epsilon = spec_.norm_epsilon};
  if (norm.name.empty()) return made;
  made.gamma = Read(norm.name + ".weight", false);
  if (norm.bias) made.beta = Read(norm.name + ".bias", false);
  return made;
}

TransformerLayer ReadLayer(ParameterReader* reader, const weights::EncoderSpec& spec,
                           const weights::LayerSpec& layer) {
  // Parameters are numbered in the order of these reads.
  Linear query_key_value = reader->ReadLinear(layer.query_key_value);
  Norm query_norm = reader->ReadNorm(layer.query_norm);
  Norm key_norm = reader->ReadNorm(layer.key_norm);
  Linear attention_output = reader->ReadLinear(layer.attention_output);
  Norm attention_norm = reader->ReadNorm(layer.attention_norm);
  Norm attention_output_norm = reader->ReadNorm(layer.attention_output_norm);
  Linear up = reader->ReadLinear(layer.up);
  Linear down = reader->ReadLinear(layer.down);
  Norm norm = reader->ReadNorm(layer.feed_forward_norm);
  Norm out_norm = reader->ReadNorm(layer.feed_forward_output_norm);
  return {.query_key_value = std::move(query_key_value),
          .query_norm = std::move(query_norm),
          .key_norm = std::move(key_norm),
          .attention = layer.attention,
          .attention_output = std::move(attention_output),
          .attention_norm = std::move(attention_norm),
          .attention_output_norm = std::move(attention_output_norm),
          .feed_forward = {.norm = std::move(norm),
                           .up = std::move(up),
                           .down = std::move(down),
                           .activation = ActivationOf(spec.activation),
                           .gated = spec.gated,
                           .out_norm = std::move(out_norm)}};
}

std::vector<Linear*> LinearsOf(TransformerLayer& layer) {
  return {&layer.query_key_value, &layer.attention_output, &layer.feed_forward.up,
          &layer.feed_forward.down};
}

std::vector<const weights::LinearSpec*> LinearsOf(const weights::LayerSpec& layer) {
  return {&layer.query_key_value, &layer.attention_output, &layer.up, &layer.down};
}

}  // namespace tandem::model
