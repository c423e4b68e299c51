#include "tensor/device_operations.h"

#include "tensor/core/back_end/back_end_part.h"

namespace tandem::tensor {
namespace {

constinit BackEndPart<const DeviceOperations*> operations_part("operations of encoders");

}  // namespace

const DeviceOperations& BackEndOperations() { return *operations_part.Get(); }

void SetBackEndOperations(const DeviceOperations& operations) { operations_part.Set(&operations); }

}  // namespace tandem::tensor
