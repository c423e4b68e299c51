// The rule that `adam` and `adamw` share.
#pragma once

#include <memory>
#include <vector>

#include "optim/rule.h"

namespace tandem::optim {

struct MomentOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  // for parameters with `decay`
};

//   m <- b1 m + (1 - b1) g            v <- b2 v + (1 - b2) g^2
//   w <- (1 - rate * decay) w - rate * (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + epsilon)
//
// All in float32, one pass over each piece of memory.
std::unique_ptr<UpdateRule> MakeMomentRule(std::vector<ParameterView> parameters,
                                           const MomentOptions& options);

}  // namespace tandem::optim
