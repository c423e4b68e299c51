#include "tensor/machine/device.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <stdexcept>

#include "base/error.h"
#include "base/process/asked_forms.h"
#include "base/process/launch.h"
#include "tensor/core/back_end/missing_back_end.h"
#include "tensor/machine/device_driver.h"

namespace tandem::tensor {
namespace {

// The N of "cuda:N"; none for other names.
std::optional<int> NumberOf(std::string_view name) {
  constexpr std::string_view kPrefix = "cuda:";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool whole = error == std::errc() && end == name.data() + name.size();
  return whole && number >= 0 ? std::optional(number) : std::nullopt;
}

void CheckCuda(std::string_view name, const CudaState& cuda) {
  if (!cuda.built) {
    throw UsageError(fmt::format(
        "device is {}, but the back end libtandem-torch.so is built without CUDA; build it with "
        "-DTANDEM_WITH_CUDA=ON (docs/building.md), or use device cpu",
        name));
  }
  if (cuda.devices == 0) {
    throw UsageError(
        fmt::format("device is {}, and the back end libtandem-torch.so is built with CUDA, but "
                    "this machine has "
                    "no device that it can use{}{}; look at nvidia-smi and CUDA_VISIBLE_DEVICES, "
                    "or use device cpu",
                    name, cuda.problem.empty() ? "" : ": ", cuda.problem));
  }
}

// FindCuda for who asks for the device `name`. Not every back end is built with CUDA, so that
// errors say which to bring.
CudaState FindCudaFor(std::string_view name) {
  try {
    return FindCuda();
  } catch (const MissingBackEnd& error) {
    throw UsageError(fmt::format(
        "device is {}, which needs a back end that is built with CUDA, but {}; build it with "
        "-DTANDEM_WITH_CUDA=ON (docs/building.md), or use device cpu",
        name, error.missed()));
  } catch (const UsageError& error) {
    throw UsageError(
        fmt::format("device is {}, which needs a back end that is built with -DTANDEM_WITH_CUDA=ON "
                    "(docs/building.md): {}",
                    name, error.what()));
  }
}

Device CudaDevice(int index) { return {Device::Kind::kCuda, index}; }

}  // namespace

CudaState FindCuda() { return BackEndDriver().FindCuda(); }

int ComputeCapability(Device device) {
  if (!device.is_cuda()) throw std::logic_error("only CUDA devices have a compute capability");
  return BackEndDriver().ComputeCapability(device);
}

DeviceMemory MemoryOf(Device device) {
  return device.is_cuda() ? BackEndDriver().MemoryOf(device) : DeviceMemory();
}

void ForgetMostUsed(Device device) {
  if (device.is_cuda()) BackEndDriver().ForgetMostUsed(device);
}

Device ResolveDevice(std::string_view name, int local_rank, const CudaState& cuda) {
  if (name == "cpu") return kCpuDevice;
  const std::optional<int> number = NumberOf(name);
  if (name != "cuda" && !number) {
    throw UsageError(fmt::format("device is cpu, cuda or cuda:N with N from 0, not \"{}\"", name));
  }
  CheckCuda(name, cuda);
  const std::string devices = cuda.devices == 1 ? "one device, cuda:0"
                                                : fmt::format("{} devices, cuda:0 to cuda:{}",
                                                              cuda.devices, cuda.devices - 1);
  if (number && *number >= cuda.devices) {
    throw UsageError(fmt::format("device is {}, but this process sees {}", name, devices));
  }
  if (number || cuda.devices == 1) return CudaDevice(number.value_or(0));
  if (local_rank >= cuda.devices) {
    throw UsageError(fmt::format(
        "device is cuda, and this is process {} of its machine, but it sees {}; start at most {} "
        "processes on this machine, or give each its device (cuda:N, CUDA_VISIBLE_DEVICES)",
        local_rank, devices, cuda.devices));
  }
  return CudaDevice(local_rank);
}

Device UseDevice(std::string_view name) {
  const bool cuda = name == "cuda" || NumberOf(name);
  const Device device = ResolveDevice(name, cuda ? CurrentLaunch().local_rank : 0,
                                      cuda ? FindCudaFor(name) : CudaState());
  if (device.is_cuda()) BackEndDriver().MakeCurrent(device);
  return device;
}

std::string DeviceName(Device device) { return device.str(); }

std::string DeviceLibrary() { return BackEndDriver().Library(); }

bool DeviceFormsForced() { return FormsOfEnvironment() == AskedForms::kPortable; }

}  // namespace tandem::tensor
