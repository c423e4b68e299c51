// An objective as arithmetic on plain arrays, in double, with its analytic gradient. Torch-free:
// autograd.h makes it differentiable for tensors.
#pragma once

#include "objective/batch.h"

namespace tandem::objective {

// Stateless; what an objective learns or keeps comes in with the batch.
class Formula {
 public:
  virtual ~Formula() = default;

  // The loss of a batch of finite scores. Where `gradient` is given, adds d loss / d score to its
  // arrays, which the caller has zeroed. Sums run in an order that does not depend on threads.
  // A batch without any allowed negative has loss 0 and zero gradient.
  virtual Evaluation Evaluate(const Batch& batch, Gradient* gradient) const = 0;
};

}  // namespace tandem::objective
