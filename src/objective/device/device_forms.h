// The device forms of objectives, each in the file of its name: device_NAME.cc.
#pragma once

#include <memory>

#include "config/params.h"
#include "objective/device/device_form.h"

namespace tandem::objective {

std::unique_ptr<const DeviceForm> MakeDeviceInfoNce(const config::Params& params);
std::unique_ptr<const DeviceForm> MakeDeviceSamToNe(const config::Params& params);
std::unique_ptr<const DeviceForm> MakeDevicePair(const config::Params& params);
std::unique_ptr<const DeviceForm> MakeDeviceMannWhitney(const config::Params& params);
std::unique_ptr<const DeviceForm> MakeDeviceBixse(const config::Params& params);
std::unique_ptr<const DeviceForm> MakeDeviceSoftInfoNce(const config::Params& params);
std::unique_ptr<const DeviceForm> MakeDeviceMarginMse(const config::Params& params);
std::unique_ptr<const DeviceForm> MakeDeviceKlDistillation(const config::Params& params);
std::unique_ptr<const DeviceForm> MakeDevicePairwiseBce(const config::Params& params);
std::unique_ptr<const DeviceForm> MakeDeviceLambdaLoss(const config::Params& params);

}  // namespace tandem::objective
