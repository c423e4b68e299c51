// Processes must not share a GPU: NCCL cannot exchange between two that do.
#pragma once

#include <span>
#include <string>

namespace tandem::dist {

// gpus[r] tells the GPU of rank r from all others. Throws UsageError where two are the same, naming
// the first two ranks that share one. NCCL only says that a call was invalid.
void CheckOneGpuEach(std::span<const std::string> gpus);

}  // namespace tandem::dist
