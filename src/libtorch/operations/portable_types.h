// The arguments of the portable operations: those of tensor/ops.h as libtorch's tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "libtorch/operations/length_classes.h"
#include "tensor/dropout.h"
#include "tensor/ops.h"
#include "tensor/profile/profile.h"

namespace tandem::libtorch::portable {

using tensor::Activation;
using tensor::AttentionRule;
using tensor::Dropout;
using tensor::HeadShape;
using tensor::Pooling;

// The type in which the portable operations sum, normalise and make probabilities: double for
// double, else float.
inline at::ScalarType WideType(at::ScalarType type) {
  return type == at::kDouble ? at::kDouble : at::kFloat;
}
inline at::ScalarType WideType(const at::Tensor& x) { return WideType(x.scalar_type()); }
inline at::Tensor Wide(const at::Tensor& x) { return x.to(WideType(x)); }

// tensor::PackedTokens.
struct Tokens {
  at::Tensor ids;              // int32 [T]
  at::Tensor positions;        // int32 [T]
  at::Tensor types;            // int32 [T], or undefined: all 0
  at::Tensor sequence_starts;  // int32 [B + 1]
  at::Tensor row_keys;         // int64 [T]
  at::Tensor prompt_tokens;    // int32 [B], or undefined: none
  // Null where an operation does not need them.
  std::shared_ptr<const LengthClasses> classes;
  int64_t longest = 0;  // PackedTokens::longest

  int64_t texts() const { return sequence_starts.size(0) - 1; }
};

// tensor::EmbeddingTables, but for the word table, whose rows are an argument of their own.
struct Tables {
  at::Tensor position;  // [P, H], or undefined: none
  at::Tensor type;      // [types, H], or undefined: none
  int64_t position_offset = 0;
};

// tensor::Norm.
struct Norm {
  tensor::Norm::Kind kind = tensor::Norm::Kind::kLayerNorm;
  at::Tensor gamma;  // [H]; undefined: there is no normalisation
  at::Tensor beta;   // [H], or undefined: none
  double epsilon = 1e-5;

  bool defined() const { return gamma.defined(); }
};

// tensor::Adapter, with the dropout of what it reads.
struct Adapter {
  std::vector<at::Tensor> down;  // A_i [R, K]; undefined: none
  std::vector<at::Tensor> up;    // B_i [N_i, R]
  double scale = 1;
  Dropout dropout;
  at::Tensor row_keys;  // int64 [T]; undefined without dropout
};

// tensor::Linear.
struct Linear {
  std::vector<at::Tensor> weights;  // [N_i, K], with their histories
  std::vector<at::Tensor> biases;   // [N_i], likewise; none where the map has no bias
  // The stacked ones in the activations' type, without history: what is multiplied and added.
  at::Tensor weight;  // [N, K]
  at::Tensor bias;    // [N], or undefined: none
  std::optional<Adapter> adapter;
  // The work of the backward pass for activations like `x`, for the profile; may be empty.
  std::function<tensor::Work(const at::Tensor& x)> backward_work;
};

// tensor::FeedForward.
struct FeedForward {
  Norm norm;
  Linear up;
  Linear down;
  Activation activation = Activation::kGelu;
  bool gated = false;
  Norm out_norm;
};

// tensor::Rotary.
struct Rotary {
  at::Tensor cosines;  // float32 [P, head width / 2], or undefined
  at::Tensor sines;
};

// tensor::RelativeBias.
struct RelativeBias {
  at::Tensor table;  // [buckets, heads], or undefined: none
  int64_t max_distance = 128;
};

}  // namespace tandem::libtorch::portable
