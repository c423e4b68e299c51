// The parameters of `adafactor` (adafactor.cc has the formulas).
#pragma once

#include "config/params.h"

namespace tandem::optim {

struct AdafactorOptions {
  double epsilon;
  double scale_epsilon;
  double clip_threshold;
  double decay_exponent;
  bool scale_parameter;
  double weight_decay;
};

AdafactorOptions AdafactorOptionsOf(const config::Params& params);

}  // namespace tandem::optim
