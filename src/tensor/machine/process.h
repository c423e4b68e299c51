// What a program that computes with tensors sets for its whole process.
//
// The libraries of Tandem never call this: a program that links them keeps its own thread count,
// allocator and instruction sets, and everything works with those, only more slowly where they are
// not Tandem's.
#pragma once

namespace tandem::tensor {

// Sets the thread count of libtorch and OpenMP (0: UsableThreads() of base/process/threads.h),
// limits oneDNN, Highway and libtorch to the instruction sets that TANDEM_ISA allows (isa.h), and
// makes the arena of page_arena.h libtorch's CPU allocator. Call it before the first tensor
// operation; a later call changes the thread count only. Throws UsageError for a wrong TANDEM_ISA.
void SetUpProcess(int threads);

}  // namespace tandem::tensor
