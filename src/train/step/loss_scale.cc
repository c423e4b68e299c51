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

Json LossScale::State() const { return {{"value", value_}, {"finite_steps", finite_steps_}}; }

void LossScale::Restore(const Json& state) {
  value_ = state.at("value").get<double>();
  finite_steps_ = state.at("finite_steps").get<int64_t>();
}

}  // namespace tandem::train
