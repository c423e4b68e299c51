// The low-rank adapter of a Linear, with the copies of it that the CPU kernels read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/core/tensor.h"
#include "tensor/linear.h"

namespace tandem::tensor {

// Parts i of a map [N, K] with adapters A_i [R, K], B_i [N_i, R]. The kernels read them as two
// maps: `down` [S, K], the A_i one below the other, and `up` [N, S], scale B_i where the rows of
// part i meet the columns of A_i and 0 elsewhere. S is R for each part that has an adapter, filled
// up with zeros to a multiple of 32, which every kernel takes.
class LowRank {
 public:
  // `outs` are the N_i, one for each entry of the adapter's lists. Throws std::logic_error for
  // shapes that do not fit.
  LowRank(Adapter adapter, int64_t in, const std::vector<int64_t>& outs);

  const Adapter& adapter() const { return adapter_; }
  // The A_i, then the B_i, without undefined ones.
  const std::vector<Tensor>& parameters() const { return parameters_; }
  // VersionOf(parameters()).
  uint64_t version() const;

  // Adds scale B_i A_i to the rows of part i of `stacked`, float [N, K].
  void AddTo(const Tensor& stacked) const;
  // Appends the gradients of parameters() from the gradient of the merged weight, float [N, K]:
  // scale B_i^T dW_i and scale dW_i A_i^T. They are undefined where `weight` is: where
  // adapters are frozen.
  void AppendProjected(const Tensor& weight, std::vector<Tensor>* gradients) const;

  // Takes the parameters into `down` and `up`, and packs these; as Linear::Prepare.
  void Prepare(cpu::Type type, Passes passes);
  // Must be called after Prepare.
  const Linear& down() const { return *down_; }
  const Linear& up() const { return *up_; }
  // Appends the gradients of parameters() from those of `down` and `up`.
  void AppendParts(const Tensor& down, const Tensor& up, std::vector<Tensor>* gradients) const;

 private:
  // A part that has an adapter.
  struct Part {
    Tensor a, b;
    int64_t first_row = 0;   // of its outputs in N
    int64_t first_rank = 0;  // of its A_i in S
  };

  Adapter adapter_;
  std::vector<Part> parts_;
  std::vector<Tensor> parameters_;
  int64_t in_, out_;
  std::optional<Linear> down_, up_;  // made by the first Prepare: merged adapters need none
  uint64_t stacked_version_ = 0;     // of the parameters in down_ and up_; 0: of none
};

}  // namespace tandem::tensor
