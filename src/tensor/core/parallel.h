// The threads that operations of tensors work on: OpenMP's.
#pragma once

#include <cstdint>
#include <functional>

namespace tandem::tensor {

// Threads that an operation may use, at least 1. It starts as OpenMP's count.
int ThreadCount();
// Sets the count of the process. `threads` is at least 1.
void SetThreadCount(int threads);

// Threads for an operation that is called here: ThreadCount(), but 1 inside a parallel region,
// where every thread runs operations of its own (tensor/machine/run_apart.h).
int Threads();

// Calls body(first, past) for ranges that make up [begin, end), each of at least `grain` indices
// (the last may be shorter), on Threads() threads at most, and returns when all have. The ranges
// depend on the number of threads. Throws what a call has thrown, one of them where several have.
void ParallelFor(int64_t begin, int64_t end, int64_t grain,
                 const std::function<void(int64_t first, int64_t past)>& body);

}  // namespace tandem::tensor
