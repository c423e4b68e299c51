// How much memory this process may use.
#pragma once

#include <cstdint>

namespace tandem {

// Bytes: the smaller of the machine's memory and its cgroup's limit.
uint64_t UsableMemory();

}  // namespace tandem
