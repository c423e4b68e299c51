// The factor of the loss before the backward pass in fp16.
//
// Half precision has 5 bits of exponent, so that gradients below 6e-8 would become 0. Multiplying
// the loss by a scale prevents that, until a gradient overflows. Such a step is left out and the
// scale is halved; after 2,000 steps in a row without an overflow it is doubled. Source:
// Micikevicius et al. 2018, section 3.2, with the constants of torch.cuda.amp.GradScaler.
#pragma once

#include <cstdint>

#include "train/run/state_visitor.h"

namespace tandem::train {

struct LossScaleOptions {
  bool on = false;
  double start = 65536;
  int64_t growth_steps = 2000;
};

class LossScale {
 public:
  // The scale is always 1 unless `options.on`.
  explicit LossScale(const LossScaleOptions& options)
      : options_(options), value_(options.on ? options.start : 1) {}

  bool on() const { return options_.on; }
  double value() const { return value_; }

  // Must be called after a backward pass, with whether all gradients are finite. Throws
  // NumericError if they are not finite and no smaller scale can help: the scaling is off, or the
  // scale is at 1.
  void Count(bool finite);

  void VisitState(StateVisitor visit);

 private:
  LossScaleOptions options_;
  double value_;
  int64_t finite_steps_ = 0;  // since the last change
};

}  // namespace tandem::train
