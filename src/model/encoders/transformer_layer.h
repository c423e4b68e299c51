// The parts of an encoder's layers, read by their names.
#pragma once

#include <string>
#include <vector>

#include "model/encoders/encoder.h"
#include "model/forward.h"
#include "tensor/core/tensor.h"
#include "tensor/linear.h"
#include "tensor/ops.h"
#include "weights/encoder_spec.h"

namespace tandem::model {

// Reads the tensors of a spec's parts by name and remembers them as parameters, in the order in
// which they are read. `source` and `spec` must outlive it.
class ParameterReader {
 public:
  ParameterReader(const TensorSource& source, const weights::EncoderSpec& spec)
      : source_(source), spec_(spec) {}

  // `decay` says whether the optimizer decays it.
  tensor::Tensor Read(const std::string& name, bool decay);
  // Returns undefined for an empty name.
  tensor::Tensor ReadTable(const std::string& name);
  tensor::Linear ReadLinear(const weights::LinearSpec& linear);
  // Returns a norm without gamma, which does nothing, for one without a name.
  tensor::Norm ReadNorm(const weights::NormSpec& norm);
  std::vector<NamedParameter> parameters() const { return parameters_; }

 private:
  const TensorSource& source_;
  const weights::EncoderSpec& spec_;
  std::vector<NamedParameter> parameters_;
};

struct TransformerLayer {
  tensor::Linear query_key_value;
  tensor::Norm query_norm, key_norm;
  weights::AttentionSpec attention;
  tensor::Linear attention_output;
  tensor::Norm attention_norm, attention_output_norm;
  tensor::FeedForward feed_forward;  // post-norm: its norm is after the residual sum
};

TransformerLayer ReadLayer(ParameterReader* reader, const weights::EncoderSpec& spec,
                           const weights::LayerSpec& layer);

// The linear maps of a layer, in a fixed order.
std::vector<tensor::Linear*> LinearsOf(TransformerLayer& layer);
std::vector<const weights::LinearSpec*> LinearsOf(const weights::LayerSpec& layer);

}  // namespace tandem::model
