#include "tensor/machine/device_driver.h"

#include <atomic>
#include <stdexcept>

#include "tensor/core/device_functions.h"

namespace tandem::tensor {
namespace {

std::atomic<const DeviceDriver*> back_end_driver = nullptr;

}  // namespace

const DeviceDriver& BackEndDriver() {
  if (back_end_driver.load() == nullptr) LoadBackEnd();
  const DeviceDriver* driver = back_end_driver.load();
  if (driver == nullptr) throw std::logic_error("the back end has no driver of devices");
  return *driver;
}

void SetBackEndDriver(const DeviceDriver& driver) { back_end_driver.store(&driver); }

const DeviceDriver* LoadedBackEndDriver() { return back_end_driver.load(); }

}  // namespace tandem::tensor
