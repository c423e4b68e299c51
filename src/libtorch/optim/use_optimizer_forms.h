// Gives the room `optim` this back end's forms.
#pragma once

#include <span>

#include "optim/device_rule.h"

namespace tandem::libtorch {

// One for each entry of optim::Optimizers(), in their order. The table is written from
// src/optim/CMakeLists.txt.
std::span<const optim::DeviceForm* const> OptimizerForms();

// Sets them, and the norm of gradients (optim::SetDeviceRules).
void UseOptimizerForms();

}  // namespace tandem::libtorch
