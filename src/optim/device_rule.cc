#include "optim/device_rule.h"

#include "tensor/core/back_end/back_end_part.h"
#include "tensor/core/gradients/sparse_rows.h"

namespace tandem::optim {
namespace {

constinit tensor::BackEndPart<DeviceRules> rules_part("rules of optimizers");

}  // namespace

GradientTensors GradientOf(const tensor::Tensor& leaf) {
  if (const tensor::SparseRows* gradient = leaf.row_grad()) {
    return {.values = gradient->values, .rows = gradient->rows};
  }
  return {.values = leaf.grad()};
}

void SetDeviceRules(const DeviceRules& rules) { rules_part.Set(rules); }

DeviceRules BackEndRules() { return rules_part.Get(); }

}  // namespace tandem::optim
