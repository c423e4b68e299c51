#include "model/encoders/rotary_tables.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "tensor/core/device_memory.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"

namespace tandem::model {

struct RotaryTables::State {
  std::vector<float> inverse_frequencies;
  float factor = 1;
  std::mutex mutex;
  tensor::Rotary rotary;  // of as many positions as were asked for so far
};

RotaryTables::RotaryTables(const weights::RotarySpec& spec) : state_(std::make_shared<State>()) {
  state_->inverse_frequencies = spec.inverse_frequencies;
  state_->factor = static_cast<float>(spec.factor);
}

tensor::Rotary RotaryTables::Upto(int64_t positions, tensor::Device device) const {
  constexpr int64_t kLeast = 512;
  const std::lock_guard lock(state_->mutex);
  tensor::Rotary& rotary = state_->rotary;
  if (rotary.cosines.defined() && rotary.cosines.size(0) >= positions) {
    if (rotary.cosines.device() != device) {
      rotary = {tensor::MovedTo(rotary.cosines, device), tensor::MovedTo(rotary.sines, device)};
    }
    return rotary;
  }
  const int64_t count = std::max(
      {kLeast, positions, rotary.cosines.defined() ? 2 * rotary.cosines.size(0) : int64_t{0}});
  const auto width = static_cast<int64_t>(state_->inverse_frequencies.size());
  const tensor::Rotary longer{tensor::Empty({count, width}, tensor::kFloat),
                              tensor::Empty({count, width}, tensor::kFloat)};
  // Angles are products in float, as transformers computes them: at position 8,000 they differ by
  // 1e-4 from exact ones. Their cosines are rounded correctly, so that every machine has the same.
  for (int64_t p = 0; p < count; ++p) {
    for (int64_t c = 0; c < width; ++c) {
      const float angle =
          static_cast<float>(p) * state_->inverse_frequencies[static_cast<size_t>(c)];
      const double exact = angle;
      longer.cosines.data_ptr<float>()[p * width + c] =
          static_cast<float>(std::cos(exact)) * state_->factor;
      longer.sines.data_ptr<float>()[p * width + c] =
          static_cast<float>(std::sin(exact)) * state_->factor;
    }
  }
  return rotary = {tensor::MovedTo(longer.cosines, device), tensor::MovedTo(longer.sines, device)};
}

}  // namespace tandem::model
