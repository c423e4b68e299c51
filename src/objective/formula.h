// An objective as arithmetic on plain arrays, in double, with its analytic gradient. Formulas know
// no tensors: autograd.cc makes them differentiable.
#pragma once

#include "objective/batch.h"

namespace tandem::objective {

// A formula has no state: what an objective learns or keeps comes in with the batch.
class Formula {
 public:
  virtual ~Formula() = default;

  // The loss of a batch of finite scores. Where `gradient` is given, adds d loss / d score to its
  // arrays, which the caller has zeroed. Sums run in an order that does not depend on threads.
  // Rows without anything to compare contribute nothing; a batch of such rows has loss 0. Weights
  // of 1 give the same bits as none.
  virtual Evaluation Evaluate(const Batch& batch, Gradient* gradient) const = 0;

  // The value at which a bias starts that the recipe does not give, computed from the run's first
  // batch. `batch.scale` is used as in Evaluate; weights do not count.
  virtual double StartingBias(const Batch& /*batch*/) const { return 0; }
};

}  // namespace tandem::objective
