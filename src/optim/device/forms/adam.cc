// The device form of optimizers/adam.cc.
#include <utility>

#include "optim/device/device_moments.h"

namespace tandem::optim {

extern const DeviceForm kAdamOnDevice{
    &kAdam, [](std::vector<model::NamedParameter> parameters, const config::Params& params,
               const DeviceOptions& options) {
      return MakeDeviceMoments(std::move(parameters), AdamOptions(params), options);
    }};

}  // namespace tandem::optim
