// Rows that stand on several processes, brought together and their gradients brought back.
#pragma once

#include <cstdint>
#include <vector>

#include "dist/process_group.h"
#include "tensor/core/tensor.h"

namespace tandem::dist {

// Knows which rows of a matrix [N, E] are each process's. Matrices may be on a device: what the
// group does not take there goes over the host. Results are where the arguments are, and of their
// type.
class RowExchange {
 public:
  // rows_of[r] are the rows of rank r, in the order in which that process has them; together they
  // are 0 to N - 1, each once. It is the same on every process. `group` must outlive the exchange.
  RowExchange(ProcessGroup& group, const std::vector<std::vector<int64_t>>& rows_of);

  // Consecutive rows, an even share of `rows` for each process (ShareOf).
  static RowExchange OfEvenShares(ProcessGroup& group, int64_t rows);

  // Gathers the whole matrix [N, E] on every process, from its own rows [n, E]. Has no gradient.
  tensor::Tensor Gather(const tensor::Tensor& own) const;
  // The gradient of this process's own rows [n, E] where every process has a part of the gradient
  // of the matrix [N, E]: the parts' sum, added in the order of ranks.
  tensor::Tensor AddUpOwn(const tensor::Tensor& gradient) const;
  // The own rows [n, E] of a matrix [N, E].
  tensor::Tensor Own(const tensor::Tensor& all) const;

 private:
  ProcessGroup& group_;
  int64_t most_ = 0;       // rows of the process that has most
  tensor::Tensor place_;   // int64 [N]: where row i stands among [ranks * most_]
  tensor::Tensor row_of_;  // int64 [ranks * most_]: the row that stands there; N: none
  tensor::Tensor own_;     // int64 [n]
};

}  // namespace tandem::dist
