// The device form of optimizers/adam.cc.
#include <utility>

#include "libtorch/optim/device_moments.h"

namespace tandem::libtorch {

extern const optim::DeviceForm kAdamOnDevice{
    &optim::kAdam, [](std::vector<model::NamedParameter> parameters, const config::Params& params,
                      const optim::DeviceOptions& options) {
      return MakeDeviceMoments(std::move(parameters), optim::AdamOptions(params), options);
    }};

}  // namespace tandem::libtorch
