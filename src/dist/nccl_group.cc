#include "dist/nccl_group.h"

#include <ATen/cuda/CUDAContext.h>

#include <cstdlib>
#include <iterator>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#include <utility>

namespace tandem::dist {

c10::intrusive_ptr<Backend> MakeNccl(StorePointer store, int rank, int ranks,
                                     std::chrono::milliseconds timeout) {
  const auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = timeout;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(
      c10::make_intrusive<c10d::PrefixStore>("nccl", std::move(store)), rank, ranks, options);
}

std::string IdentityOf(c10::Device device) {
  const auto& id = at::cuda::getDeviceProperties(device.index())->uuid.bytes;
  return {std::begin(id), std::end(id)};
}

void LeaveNcclErrorsToGroups() {
  for (const char* name : {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "TORCH_NCCL_ENABLE_MONITORING"}) {
    setenv(name, "0", 0);  // NOLINT(concurrency-mt-unsafe)
  }
}

}  // namespace tandem::dist
