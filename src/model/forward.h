// Says how a forward pass is run, and what an optimizer sees of a model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/core/tensor.h"
#include "tensor/machine/precision.h"

namespace tandem::model {

struct ForwardOptions {
  tensor::Precision precision = tensor::Precision::kFp32;
  bool training = false;  // dropout on
  uint64_t seed = 0;      // with `step` and the pack's text_keys: names the dropout mask
  uint64_t step = 0;
};

struct NamedParameter {
  std::string name;  // as in the weights file
  // A leaf, float32 where it is trained. Code that writes to its elements through a pointer must
  // call bump_version() of it.
  tensor::Tensor value;
  bool decay = true;  // false for biases and normalisation weights

  // A frozen parameter has no gradient, keeps the type of its file and may share the file's memory,
  // which is only read.
  bool trained() const { return value.requires_grad(); }
};

// Moves the parameters' values to a device. Each stays the tensor that it is, so that whoever holds
// one sees it there; gradients are dropped.
void MoveParameters(const std::vector<NamedParameter>& parameters, tensor::Device device);

// Picks the parameters that are trained, in their order.
std::vector<NamedParameter> TrainedOf(std::vector<NamedParameter> parameters);

}  // namespace tandem::model
