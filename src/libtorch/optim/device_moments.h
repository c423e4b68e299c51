// The device form of optim/moments.h: of a rule that keeps two moments of each gradient.
#pragma once

#include <memory>
#include <vector>

#include "optim/device_rule.h"
#include "optim/moments.h"

namespace tandem::libtorch {

std::unique_ptr<optim::DeviceRule> MakeDeviceMoments(std::vector<model::NamedParameter> parameters,
                                                     const optim::MomentOptions& options,
                                                     const optim::DeviceOptions& device);

}  // namespace tandem::libtorch
