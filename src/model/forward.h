// How a forward pass is run, and what an optimizer sees of a model.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "tensor/precision.h"

namespace tandem::model {

struct ForwardOptions {
  tensor::Precision precision = tensor::Precision::kFp32;
  bool training = false;  // dropout on
  uint64_t seed = 0;      // with `step` and the pack's text_keys: names the dropout mask
  uint64_t step = 0;
};

struct NamedParameter {
  std::string name;   // as in the weights file
  at::Tensor value;   // float32 leaf with requires_grad; code that writes to its memory without
                      // libtorch must call value.unsafeGetTensorImpl()->bump_version()
  bool decay = true;  // false for biases and normalisation weights
};

}  // namespace tandem::model
