#include "tensor/machine/device_driver.h"

#include "tensor/core/back_end/back_end_part.h"

namespace tandem::tensor {
namespace {

constinit BackEndPart<const DeviceDriver*> driver_part("driver of devices");

}  // namespace

const DeviceDriver& BackEndDriver() { return *driver_part.Get(); }

void SetBackEndDriver(const DeviceDriver& driver) { driver_part.Set(&driver); }

const DeviceDriver* LoadedBackEndDriver() { return driver_part.Loaded().value_or(nullptr); }

}  // namespace tandem::tensor
