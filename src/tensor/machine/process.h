// The settings that a program that computes with tensors makes for its whole process.
#pragma once

namespace tandem::tensor {

// Sets the thread count of tensors' operations and of OpenMP (0: UsableThreads() of
// base/process/threads.h), limits oneDNN and Highway to the instruction sets that TANDEM_ISA allows
// (isa.h), and gives tensors the arena of page_arena.h. Call it before the first tensor operation;
// a later call changes the thread count only. Throws UsageError for a wrong TANDEM_ISA.
void SetUpProcess(int threads);

}  // namespace tandem::tensor
