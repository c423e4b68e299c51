// The device form of optimizers/adamw.cc.
#include <utility>

#include "optim/device/device_moments.h"

namespace tandem::optim {

extern const DeviceForm kAdamWOnDevice{
    &kAdamW, [](std::vector<model::NamedParameter> parameters, const config::Params& params,
                const DeviceOptions& options) {
      return MakeDeviceMoments(std::move(parameters), AdamWOptions(params), options);
    }};

}  // namespace tandem::optim
