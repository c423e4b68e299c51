// The settings that a program that computes with tensors makes for its whole process.
#pragma once

namespace tandem::tensor {

// Sets the thread count of libtorch and OpenMP (0: UsableThreads() of base/process/threads.h),
// limits oneDNN, Highway and libtorch to the instruction sets that TANDEM_ISA allows (isa.h), and
// makes the arena of page_arena.h libtorch's CPU allocator. Call it before the first tensor
// operation; a later call changes the thread count only. Throws UsageError for a wrong TANDEM_ISA.
void SetUpProcess(int threads);

}  // namespace tandem::tensor
