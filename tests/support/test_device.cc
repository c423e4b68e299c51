#include "support/test_device.h"

#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "tensor/machine/device.h"

namespace tandem {
namespace {

// NOLINTBEGIN(concurrency-mt-unsafe)
tensor::Device FindTestDevice() {
  const char* name = std::getenv("TANDEM_TEST_DEVICE");
  if (name == nullptr) return tensor::kCpuDevice;
  try {
    return tensor::UseDevice(name);
  } catch (const UsageError& error) {
    std::puts(error.what());
    std::exit(std::getenv("TANDEM_TEST_DEVICE_MAY_BE_MISSING") != nullptr ? 77 : 1);
  }
}
// NOLINTEND(concurrency-mt-unsafe)

}  // namespace

tensor::Device TestDevice() {
  static const tensor::Device device = FindTestDevice();
  return device;
}

}  // namespace tandem
