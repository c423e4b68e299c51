// Gives the room `objective` this back end's forms.
#pragma once

#include <span>

#include "objective/device_form.h"

namespace tandem::libtorch {

// The forms of the objectives that have one, in the order of objective::Objectives(). The table is
// written from src/objective/CMakeLists.txt.
std::span<const objective::DeviceFormInfo* const> ObjectiveForms();

// Sets them (objective::SetDeviceForms).
void UseObjectiveForms();

}  // namespace tandem::libtorch
