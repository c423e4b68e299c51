// The encoder: turns packed token ids into one row of hidden values for each token.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/forward.h"
#include "tensor/core/tensor.h"
#include "tensor/packed_tokens.h"
#include "tensor/passes.h"

namespace tandem::model {

// A linear map with a low-rank adapter: its weight counts as W + scale B A.
struct AdaptedLinear {
  std::string linear;   // the map's canonical name
  tensor::Tensor down;  // A [rank, K]
  tensor::Tensor up;    // B [N, rank]
};

class Encoder {
 public:
  virtual ~Encoder() = default;

  // Moves all that it computes with to a device (MoveParameters). Packs must then be there too.
  virtual void To(tensor::Device device) = 0;
  // Packs the weights for forward and backward passes in this precision. Needed again whenever a
  // parameter has changed; does nothing where it has not. tensor::Linear::Prepare says more.
  virtual void Prepare(tensor::Precision precision, tensor::Passes passes) = 0;
  // [T, H]: float32 or bf16 by `options.precision` (double where the parameters are double).
  // Positions and ids must be inside the tables. Throws std::logic_error unless Prepare was called
  // for this precision since the parameters last changed, or moved. Several threads may call it at
  // once. `tokens` are on the parameters' device.
  virtual tensor::Tensor Forward(const tensor::PackedTokens& tokens,
                                 const ForwardOptions& options) const = 0;

  virtual std::vector<NamedParameter> Parameters() = 0;
  // The adapters in the order of the layers; their tensors are among Parameters().
  virtual std::vector<AdaptedLinear> Adapters() const { return {}; }
  // After this call frozen weights are packed where a pass uses them (tensor::Linear::PackOnUse).
  virtual void PackFrozenOnUse() {}
  virtual int64_t hidden_size() const = 0;      // H
  virtual int64_t vocabulary_size() const = 0;  // ids are below it
  virtual int64_t max_positions() const = 0;    // texts have at most this many tokens
  // FLOPs of the matrix products for one token forward, attention's own not counted.
  virtual double flops_per_token() const = 0;
};

// Gives a parameter by its name in the folder: a leaf tensor of the shape that the configuration
// asks for.
using TensorSource = std::function<tensor::Tensor(std::string_view name)>;

}  // namespace tandem::model
