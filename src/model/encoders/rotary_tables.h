// Cosines and sines of rotary positions, made when a longer text first needs them.
#pragma once

#include <cstdint>
#include <memory>

#include "tensor/core/tensor.h"
#include "tensor/ops.h"
#include "weights/encoder_spec.h"

namespace tandem::model {

class RotaryTables {
 public:
  explicit RotaryTables(const weights::RotarySpec& spec);

  // Tables for positions 0 .. `positions` - 1, or more, on a device; kept there until another one
  // is named. Several threads may ask at once.
  tensor::Rotary Upto(int64_t positions, tensor::Device device = tensor::kCpuDevice) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tandem::model
