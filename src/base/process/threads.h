// Says how many threads the machine gives, and a plain parallel loop for what is not of tensors.
#pragma once

#include <cstddef>
#include <functional>

namespace tandem {

// Threads that this process may use: the smaller of its CPU affinity and its cgroup's CPU quota
// (rounded up), at least 1. Processes that a launcher started on this machine
// (base/process/launch.h) share them evenly, unless srun or mpirun has bound each to processors of
// its own.
int UsableThreads();

// Calls `body(begin, end)` for consecutive ranges that together cover [0, count), on up to
// `threads` threads (the caller's included); ranges hold at most `grain` items. Ranges are handed
// out as threads become free, so `body` must not depend on which thread runs it. The first
// exception is rethrown after all threads have ended.
void ParallelFor(size_t count, size_t grain, int threads,
                 const std::function<void(size_t begin, size_t end)>& body);

}  // namespace tandem
