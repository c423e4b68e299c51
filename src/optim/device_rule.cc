#include "optim/device_rule.h"

#include <mutex>
#include <optional>

#include "tensor/core/device_functions.h"
#include "tensor/core/sparse_rows.h"

namespace tandem::optim {
namespace {

std::mutex rules_mutex;  // of what is below
std::optional<DeviceRules> device_rules;

bool AreSet() {
  const std::lock_guard lock(rules_mutex);
  return device_rules.has_value();
}

}  // namespace

GradientTensors GradientOf(const tensor::Tensor& leaf) {
  if (const tensor::SparseRows* gradient = leaf.row_grad()) {
    return {.values = gradient->values, .rows = gradient->rows};
  }
  return {.values = leaf.grad()};
}

void SetDeviceRules(const DeviceRules& rules) {
  const std::lock_guard lock(rules_mutex);
  device_rules = rules;
}

const DeviceRules& BackEndRules() {
  if (!AreSet()) tensor::LoadBackEnd();
  const std::lock_guard lock(rules_mutex);
  return device_rules.value();
}

}  // namespace tandem::optim
