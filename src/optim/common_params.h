// Parameters that several optimizers have.
#pragma once

#include "config/param.h"

namespace tandem::optim {

constexpr config::ParamInfo Beta1() {
  return config::Number("beta1", "", "decay of the first moment", 0.9, {0, 0.999999})
      .Elsewhere("transformers: `adam_beta1`");
}
constexpr config::ParamInfo Beta2() {
  return config::Number("beta2", "", "decay of the second moment", 0.999, {0, 0.999999})
      .Elsewhere("transformers: `adam_beta2`");
}
constexpr config::ParamInfo Epsilon() {
  return config::Number("epsilon", "", "added to the root of the second moment", 1e-8, {1e-16, 1})
      .Elsewhere("transformers: `adam_epsilon`");
}
constexpr config::ParamInfo WeightDecay(double default_value) {
  return config::Number("weight_decay", "",
                        "decoupled decay, times the learning rate; biases and normalisation "
                        "weights have none",
                        default_value, {0, 1});
}

}  // namespace tandem::optim
