#include "tensor/device_operations.h"

#include <atomic>
#include <stdexcept>

#include "tensor/core/device_functions.h"

namespace tandem::tensor {
namespace {

std::atomic<const DeviceOperations*> back_end_operations = nullptr;

}  // namespace

const DeviceOperations& BackEndOperations() {
  if (back_end_operations.load() == nullptr) LoadBackEnd();
  const DeviceOperations* operations = back_end_operations.load();
  if (operations == nullptr) throw std::logic_error("the back end has no operations");
  return *operations;
}

void SetBackEndOperations(const DeviceOperations& operations) {
  back_end_operations.store(&operations);
}

}  // namespace tandem::tensor
