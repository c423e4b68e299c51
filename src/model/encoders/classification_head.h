// The head of a sequence classifier.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "model/encoders/encoder.h"
#include "tensor/packed_tokens.h"
#include "weights/classification_head.h"

namespace tandem::model {

class ClassificationHead {
 public:
  // Asks `tensors` for each tensor of the spec once. Throws std::logic_error for an activation that
  // is not known.
  ClassificationHead(const weights::ClassificationSpec& spec, const TensorSource& tensors);

  void To(at::Device device);

  // Hidden rows [T, H] to logits [B, labels], float32 (double for double):
  // classifier(norm(activation(dense(pooled rows)))).
  at::Tensor Forward(const at::Tensor& hidden, const tensor::PackedTokens& texts) const;

 private:
  bool mean_;
  at::Tensor dense_weight_, dense_bias_;  // [H, H]; [H] or undefined
  at::Tensor (*activate_)(const at::Tensor&);
  at::Tensor norm_weight_, norm_bias_;  // [H] or undefined
  double norm_epsilon_;
  at::Tensor classifier_weight_, classifier_bias_;  // [labels, H]; [labels] or undefined
};

}  // namespace tandem::model
