#include "tensor/machine/device.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <stdexcept>

#include "base/error.h"
#include "base/process/asked_forms.h"
#include "base/process/launch.h"

#if TANDEM_WITH_CUDA
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/util/Exception.h>
#endif

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
        "device is {}, but this tandem is built without CUDA; build it with -DTANDEM_WITH_CUDA=ON "
        "(docs/building.md), or use device cpu",
        name));
  }
  if (cuda.devices == 0) {
    throw UsageError(fmt::format(
        "device is {}, and this tandem is built with CUDA, but this machine has no device that it "
        "can use{}{}; look at nvidia-smi and CUDA_VISIBLE_DEVICES, or use device cpu",
        name, cuda.problem.empty() ? "" : ": ", cuda.problem));
  }
}

c10::Device CudaDevice(int index) {
  return {c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(index)};
}

}  // namespace

#if TANDEM_WITH_CUDA
CudaState FindCuda() {
  try {
    return {.built = true, .devices = c10::cuda::device_count_ensure_non_zero()};
  } catch (const c10::Error& error) {
    std::string problem = error.what_without_backtrace();
    return {.built = true, .devices = 0, .problem = problem.substr(0, problem.find('\n'))};
  }
}

int ComputeCapability(const c10::Device& device) {
  if (!device.is_cuda()) throw std::logic_error("only CUDA devices have a compute capability");
  return at::cuda::getDeviceProperties(device.index())->major;
}

DeviceMemory MemoryOf(const c10::Device& device) {
  if (!device.is_cuda()) return {};
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(device.index());
  const auto& bytes = stats.allocated_bytes[0];  // of all pools
  return {.total = at::cuda::getDeviceProperties(device.index())->totalGlobalMem,
          .used = static_cast<uint64_t>(bytes.current),
          .most_used = static_cast<uint64_t>(bytes.peak)};
}

void ForgetMostUsed(const c10::Device& device) {
  if (device.is_cuda()) c10::cuda::CUDACachingAllocator::resetPeakStats(device.index());
}
#else
CudaState FindCuda() { return {}; }

int ComputeCapability(const c10::Device& /*device*/) {
  throw std::logic_error("a build without CUDA has no device with a compute capability");
}

DeviceMemory MemoryOf(const c10::Device& /*device*/) { return {}; }

void ForgetMostUsed(const c10::Device& /*device*/) {}
#endif

c10::Device ResolveDevice(std::string_view name, int local_rank, const CudaState& cuda) {
  if (name == "cpu") return c10::Device(c10::DeviceType::CPU);
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

c10::Device UseDevice(std::string_view name) {
  const bool cuda = name == "cuda" || NumberOf(name);
  const c10::Device device =
      ResolveDevice(name, cuda ? CurrentLaunch().local_rank : 0, cuda ? FindCuda() : CudaState());
#if TANDEM_WITH_CUDA
  if (device.is_cuda()) c10::cuda::set_device(device.index());
#endif
  return device;
}

at::Tensor MovedTo(const at::Tensor& x, const c10::Device& device) {
  return x.defined() ? x.to(device, x.scalar_type(), /*non_blocking=*/!device.is_cpu()) : x;
}

std::string DeviceName(const c10::Device& device) { return device.str(); }

bool DeviceFormsForced() { return FormsOfEnvironment() == AskedForms::kPortable; }

}  // namespace tandem::tensor
