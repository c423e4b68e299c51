#include "objective/device/device_forms.h"

#include <fmt/format.h>

#include <stdexcept>

namespace tandem::objective {
namespace {

struct Entry {
  std::string_view name;  // the objective's
  std::unique_ptr<const DeviceForm> (*make)(const config::Params& params);
};

constexpr Entry kEntries[] = {{"infonce", MakeDeviceInfoNce},
                              {"samtone", MakeDeviceSamToNe},
                              {"pair", MakeDevicePair},
                              {"mann_whitney", MakeDeviceMannWhitney},
                              {"bixse", MakeDeviceBixse},
                              {"soft_infonce", MakeDeviceSoftInfoNce},
                              {"margin_mse", MakeDeviceMarginMse},
                              {"kl_distillation", MakeDeviceKlDistillation},
                              {"pairwise_bce", MakeDevicePairwiseBce},
                              {"lambda_loss", MakeDeviceLambdaLoss}};

}  // namespace

std::unique_ptr<const DeviceForm> MakeDeviceForm(std::string_view name,
                                                 const config::Params& params) {
  for (const Entry& entry : kEntries) {
    if (entry.name == name) return entry.make(params);
  }
  throw std::logic_error(fmt::format("objective {} has no entry in device_forms.cc", name));
}

}  // namespace tandem::objective
