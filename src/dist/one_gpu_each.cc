#include "dist/one_gpu_each.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace tandem::dist {

void CheckOneGpuEach(std::span<const std::string> gpus) {
  for (size_t rank = 0; rank < gpus.size(); ++rank) {
    const auto first =
        std::find(gpus.begin(), gpus.begin() + static_cast<ptrdiff_t>(rank), gpus[rank]);
    if (first == gpus.begin() + static_cast<ptrdiff_t>(rank)) continue;
    throw UsageError(fmt::format(
        "ranks {} and {} have the same GPU, and each process needs one of its own: start as many "
        "processes on a machine as it has GPUs, and give device as \"cuda\", which takes the GPU "
        "of LOCAL_RANK",
        first - gpus.begin(), rank));
  }
}

}  // namespace tandem::dist
