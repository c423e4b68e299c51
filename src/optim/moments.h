// The rule that `adam` and `adamw` share.
#pragma once

#include <memory>
#include <vector>

#include "config/params.h"
#include "optim/rule.h"

namespace tandem::optim {

struct MomentOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  // for parameters with `decay`
};

// Read the parameters of `adamw`, and those of `adam`, which has no decay.
MomentOptions AdamWOptions(const config::Params& params);
MomentOptions AdamOptions(const config::Params& params);

// The factors of one step, in the order in which the formula below has them.
struct MomentCoefficients {
  float gradient_scale;
  float keep;  // a weight is multiplied by this for weight decay
  float beta1, rest1;
  float beta2, rest2;
  float step_size;     // learning rate over the first moment's bias correction
  float inverse_root;  // 1 / root of the second moment's bias correction
  float epsilon;
};
MomentCoefficients MomentCoefficientsOf(const MomentOptions& options, const StepPoint& point,
                                        bool decay);

//   m <- b1 m + (1 - b1) g            v <- b2 v + (1 - b2) g^2
//   w <- (1 - rate * decay) w - rate * (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + epsilon)
//
// All in float32, one pass over each piece of memory.
std::unique_ptr<UpdateRule> MakeMomentRule(std::vector<ParameterView> parameters,
                                           const MomentOptions& options);

}  // namespace tandem::optim
