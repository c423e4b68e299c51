// The head of a sequence classifier.
#pragma once

#include <string>

#include "model/encoders/encoder.h"
#include "tensor/core/tensor.h"
#include "tensor/packed_tokens.h"
#include "weights/classification_head.h"

namespace tandem::model {

class ClassificationHead {
 public:
  // Asks `tensors` for each tensor of the spec once. Throws std::logic_error for an activation that
  // is not known.
  ClassificationHead(const weights::ClassificationSpec& spec, const TensorSource& tensors);

  void To(tensor::Device device);

  // Hidden rows [T, H] to logits [B, labels], float32 (double for double):
  // classifier(norm(activation(dense(pooled rows)))).
  tensor::Tensor Forward(const tensor::Tensor& hidden, const tensor::PackedTokens& texts) const;

 private:
  bool mean_;
  tensor::Tensor dense_weight_, dense_bias_;  // [H, H]; [H] or undefined
  tensor::Tensor (*activate_)(const tensor::Tensor&);
  tensor::Tensor norm_weight_, norm_bias_;  // [H] or undefined
  double norm_epsilon_;
  tensor::Tensor classifier_weight_, classifier_bias_;  // [labels, H]; [labels] or undefined
};

}  // namespace tandem::model
