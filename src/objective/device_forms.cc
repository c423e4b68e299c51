#include "objective/device_forms.h"

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
                              {"bixse", MakeDeviceBixse}};

}  // namespace

std::unique_ptr<const DeviceForm> MakeDeviceForm(std::string_view name,
                                                 const config::Params& params) {
  for (const Entry& entry : kEntries) {
    if (entry.name == name) return entry.make(params);
  }
  return nullptr;
}

}  // namespace tandem::objective
