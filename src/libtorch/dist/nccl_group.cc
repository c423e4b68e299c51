#include "libtorch/dist/nccl_group.h"

#include <ATen/cuda/CUDAContext.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#include <utility>

namespace tandem::libtorch {

c10::intrusive_ptr<Backend> MakeNccl(StorePointer store, int rank, int ranks,
                                     std::chrono::milliseconds timeout) {
  const auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = timeout;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(
      c10::make_intrusive<c10d::PrefixStore>("nccl", std::move(store)), rank, ranks, options);
}

std::string IdentityOf(c10::Device device) {
  const cudaDeviceProp& gpu = *at::cuda::getDeviceProperties(device.index());
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  std::string machine;
  std::getline(boot, machine);
  return fmt::format("{} {:04x}:{:02x}:{:02x}", machine, gpu.pciDomainID, gpu.pciBusID,
                     gpu.pciDeviceID);
}

void LeaveNcclErrorsToGroups() {
  for (const char* name : {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "TORCH_NCCL_ENABLE_MONITORING"}) {
    setenv(name, "0", 0);  // NOLINT(concurrency-mt-unsafe)
  }
}

}  // namespace tandem::libtorch
