// The modules after the encoder: pooling, dense layers, normalisation.
#pragma once

#include <deque>
#include <variant>
#include <vector>

#include "model/encoders/encoder.h"
#include "tensor/core/tensor.h"
#include "tensor/ops.h"
#include "weights/folders/model_folder.h"

namespace tandem::model {

// y = activation(x W^T + b) on embeddings.
struct DenseModule {
  tensor::Tensor weight;  // [out, in]
  tensor::Tensor bias;    // [out], or undefined
  weights::Activation activation = weights::Activation::kIdentity;
};

// Gives one row for each text; what several modes give is concatenated.
struct PoolingModule {
  std::vector<tensor::Pooling> modes;
  bool include_prompt = true;
};

// y = (x - mean) / sqrt(variance + epsilon) weight + bias, by row.
struct LayerNormModule {
  tensor::Tensor weight, bias;  // [E]
};

struct NormalizeModule {};

class Head {
 public:
  // Names of parameters carry their module's folder: "2_Dense/linear.weight". A new Dense module
  // starts at random numbers that `seed` and its shape decide, a new LayerNorm at 1 and 0.
  Head(const std::vector<weights::HeadModule>& modules, uint64_t seed);

  // Hidden rows [T, H] to embeddings [B, E], float32 (double for double).
  tensor::Tensor Forward(const tensor::Tensor& hidden, const tensor::PackedTokens& tokens) const;
  const std::vector<NamedParameter>& parameters() const { return parameters_; }
  // The last Dense module; null where there is none.
  const DenseModule* projection() const;
  // Makes the last Dense modules of both heads one: this head takes `other`'s parameters. Does
  // nothing and returns false unless both heads have one and the two are equal.
  bool ShareProjection(const Head& other);

 private:
  using Module = std::variant<PoolingModule, DenseModule, LayerNormModule, NormalizeModule>;
  std::deque<Module> modules_;  // a vector would move them, which g++ 12 wrongly warns of
  std::vector<NamedParameter> parameters_;
};

// x W^T + b, [B, out], for x [B, in], `weight` [out, in] and `bias` [out] or undefined, of one
// type.
tensor::Tensor Mapped(const tensor::Tensor& x, const tensor::Tensor& weight,
                      const tensor::Tensor& bias);

// A float32 leaf with gradient, from a tensor of a weights file.
tensor::Tensor ParameterFrom(const weights::TensorView& view);

}  // namespace tandem::model
