// Says how much memory this process may use.
#pragma once

#include <cstdint>

namespace tandem {

// Bytes: the smaller of the machine's memory and the lowest limit of this process's cgroup and
// those above it (base/process/memory_limits.h).
uint64_t UsableMemory();

// Bytes: the most memory that this program has held at once (the resident set's high-water mark),
// mapped files that it has read included. Does not count what the process was before it became this
// program, which getrusage does. Throws std::runtime_error where the system does not say.
uint64_t MostResidentMemory();

}  // namespace tandem
