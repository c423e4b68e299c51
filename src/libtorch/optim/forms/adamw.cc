// The device form of optimizers/adamw.cc.
#include <utility>

#include "libtorch/optim/device_moments.h"

namespace tandem::libtorch {

extern const optim::DeviceForm kAdamWOnDevice{
    &optim::kAdamW, [](std::vector<model::NamedParameter> parameters, const config::Params& params,
                       const optim::DeviceOptions& options) {
      return MakeDeviceMoments(std::move(parameters), optim::AdamWOptions(params), options);
    }};

}  // namespace tandem::libtorch
