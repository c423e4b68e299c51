#include "train/step/loss_scale.h"

#include <algorithm>

#include "base/error.h"
#include "base/json/json.h"

namespace tandem::train {

void LossScale::Count(bool finite) {
  if (finite) {
    if (!options_.on || ++finite_steps_ < options_.growth_steps) return;
    value_ *= 2;
  } else {
    if (!options_.on) throw NumericError("the gradient is not finite");
    if (value_ <= 1) throw NumericError("the gradient is not finite, at a loss scale of 1");
    value_ = std::max(1.0, value_ / 2);
  }
  finite_steps_ = 0;
}

void LossScale::VisitState(StateVisitor visit) {
  visit.Member("value", value_);
  visit.Member("finite_steps", finite_steps_);
}

}  // namespace tandem::train
