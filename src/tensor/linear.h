// The weights of an affine map y = x W^T + b, with the copies of them that the CPU kernels read.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tensor/core/tensor.h"
#include "tensor/kernels/cpu/products/products.h"
#include "tensor/memory/pack_buffers.h"
#include "tensor/passes.h"

namespace tandem::tensor {

class LowRank;

// A low-rank adapter of a map (LoRA; Hu et al. 2021): part i of its weights counts as
// W_i + scale B_i A_i.
struct Adapter {
  std::vector<Tensor> down;  // A_i [R, K], float32 or double leaves; undefined: none
  std::vector<Tensor> up;    // B_i [N_i, R], defined where A_i is
  double scale = 1;
  double dropout = 0;  // of what A_i reads, in training (AdapterDropout)
  uint32_t site = 0;   // of that dropout
};

// One or several matrices [N_i, K] stacked along their outputs: the queries, keys and values of
// attention are one product. Copies of a Linear share everything, as copies of a tensor do, so a
// backward pass holds a copy of its own and may outlive the layer.
//
// The fused kernels multiply by packed copies of the weights, which only Prepare makes. A pass that
// needs a copy which is missing, or older than the weights, throws std::logic_error.
class Linear {
 public:
  // `weights` [N_i, K] and `biases` [N_i] are leaves that the caller shares; as many of one as of
  // the other, or no biases at all. Values of leaves that want gradients move: afterwards each list
  // lies in one block of memory. Weights that want none (frozen ones) stay where they are, and may
  // be bf16 or half too: they are converted while they are packed. They must not change.
  Linear(std::vector<Tensor> weights, std::vector<Tensor> biases);

  // Called after the parameters have moved to another device: moves trained weights and biases to
  // one block of memory each, as the constructor does, and frees packed copies.
  void Moved();

  // Gives the map an adapter. Its gradients come from the gradient of the merged weight where
  // kernels multiply by that, which costs no pass over activations; AdaptsBeside says where they do
  // not. It adapts all copies of this Linear, and must not run beside anything that uses one.
  void Adapt(Adapter adapter);
  // Says whether activations like x are multiplied by the adapter beside the weights. Merged
  // weights in bf16 would lose what training adds: a change below half a unit in the last place of
  // a weight vanishes. Where there is dropout the adapter reads other values than the weights.
  bool AdaptsBeside(const Tensor& x) const;
  // Returns null where the map has none. It is as Prepare left it.
  const LowRank* low_rank() const;
  // The map without its adapter. Shares everything with it; packed copies fit it where the adapter
  // is not merged.
  Linear Base() const;

  // After this call a packed copy is made where a pass uses it, in `buffers`, which maps of the
  // same shapes share under a `slot` of their own. It is valid until the thread uses another map of
  // that slot. Prepare then packs nothing.
  void PackOnUse(std::shared_ptr<PackBuffers> buffers, int slot);
  // Bytes of a packed copy for one pass.
  uint64_t PackedBytes(cpu::Type type) const;

  int64_t in() const;   // K
  int64_t out() const;  // the sum of N_i
  const std::vector<Tensor>& weights() const;
  const std::vector<Tensor>& biases() const;  // empty where the map has none

  // All weights, then all biases, then the adapter's A_i and its B_i: the inputs of an operation's
  // gradient.
  std::vector<Tensor> parameters() const;
  // Says whether parameters() needs the gradient of the stacked weight, and of the stacked bias.
  bool WantsWeightGradient() const;
  bool WantsBiasGradient() const;
  // Appends the gradients of parameters(), from those of the stacked weight and bias; undefined
  // where they are not wanted.
  void AppendGradients(const Tensor& weight, const Tensor& bias,
                       std::vector<Tensor>* gradients) const;

  // Packs the weights for activations of `type` and these passes, unless copies exist that are as
  // new as the weights. Frees the copies, of any type, for a pass that `passes` leaves out: of all
  // layers together they take as much memory as the weights. Weights count as changed when their
  // version() has. Does nothing for weights that the fused kernels cannot take: other types than
  // float, other devices, widths that are no multiples of 16.
  //
  // For kInt8 the copies are rounded to eight bits, adapters merged into them: for forward passes
  // only, else std::logic_error. Operations then use these for activations of `type`, until another
  // Prepare names another multiplier.
  //
  // Once this has returned, several threads may run forward passes and call Prepare for the same
  // arguments at the same time. No other Prepare may run beside them.
  void Prepare(cpu::Type type, Passes passes,
               cpu::Multiplier multiplier = cpu::Multiplier::kFastest);

  // W^T [K, N] for the forward pass, W [N, K] for the backward pass, b [N], as Prepare left them.
  const cpu::PackedMatrix& Forward(cpu::Type type) const;
  const cpu::PackedMatrix& Backward(cpu::Type type) const;
  const float* StackedBias() const;  // null where the map has none

  // The stacked [N, K] and [N] (undefined where the map has no bias) in this type and on the
  // weights' device, without history and adapter: what the portable and the reference operations
  // multiply by. Where that is a copy, it is kept until the weights change or another type is asked
  // for. Several threads may ask at once.
  Tensor WeightIn(DType type) const;
  Tensor BiasIn(DType type) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
  bool base_ = false;  // leaves the adapter out
};

}  // namespace tandem::tensor
