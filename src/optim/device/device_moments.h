// The device form of moments.h: of a rule that keeps two moments of each gradient.
#pragma once

#include <memory>
#include <vector>

#include "optim/device/device_rule.h"
#include "optim/moments.h"

namespace tandem::optim {

std::unique_ptr<DeviceRule> MakeDeviceMoments(std::vector<model::NamedParameter> parameters,
                                              const MomentOptions& options,
                                              const DeviceOptions& device);

}  // namespace tandem::optim
