#include "libtorch/device_driver.h"

#include <ATen/Context.h>
#include <torch/version.h>

#include <stdexcept>
#include <string>

#include "libtorch/bridge.h"

#if TANDEM_WITH_CUDA
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/util/Exception.h>
#endif

namespace tandem::libtorch {

#if TANDEM_WITH_CUDA
namespace {

c10::DeviceIndex IndexOf(tensor::Device device) { return TorchDevice(device).index(); }

}  // namespace

tensor::CudaState Driver::FindCuda() const {
  try {
    return {.built = true, .devices = c10::cuda::device_count_ensure_non_zero()};
  } catch (const c10::Error& error) {
    const std::string problem = error.what_without_backtrace();
    return {.built = true, .devices = 0, .problem = problem.substr(0, problem.find('\n'))};
  }
}

void Driver::MakeCurrent(tensor::Device device) const {
  c10::cuda::set_device(IndexOf(device));
  // libtorch sets its allocator up with the first tensor there; MemoryOf and ForgetMostUsed may be
  // asked before that.
  at::globalContext().lazyInitDevice(at::kCUDA);
}

int Driver::ComputeCapability(tensor::Device device) const {
  return at::cuda::getDeviceProperties(IndexOf(device))->major;
}

tensor::DeviceMemory Driver::MemoryOf(tensor::Device device) const {
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(IndexOf(device));
  const auto& bytes = stats.allocated_bytes[0];  // of all pools
  return {.total = at::cuda::getDeviceProperties(IndexOf(device))->totalGlobalMem,
          .used = static_cast<uint64_t>(bytes.current),
          .most_used = static_cast<uint64_t>(bytes.peak)};
}

void Driver::ForgetMostUsed(tensor::Device device) const {
  c10::cuda::CUDACachingAllocator::resetPeakStats(IndexOf(device));
}
#else
namespace {

[[noreturn]] void ThrowWithoutCuda() {
  throw std::logic_error("a build without CUDA has no devices");
}

}  // namespace

tensor::CudaState Driver::FindCuda() const { return {}; }

void Driver::MakeCurrent(tensor::Device /*device*/) const { ThrowWithoutCuda(); }

int Driver::ComputeCapability(tensor::Device /*device*/) const { ThrowWithoutCuda(); }

tensor::DeviceMemory Driver::MemoryOf(tensor::Device /*device*/) const { ThrowWithoutCuda(); }

void Driver::ForgetMostUsed(tensor::Device /*device*/) const { ThrowWithoutCuda(); }
#endif

void Driver::AllowTf32(bool allowed) const { at::globalContext().setAllowTF32CuBLAS(allowed); }

std::string Driver::Library() const { return std::string("libtorch ") + TORCH_VERSION; }

}  // namespace tandem::libtorch
