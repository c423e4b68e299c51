// What the processor offers. Each family of processors has a source of its own, which also defines
// MachineFeatures() and MachineInt8Features() of isa.h: processor_x86_64.cc and processor_arm64.cc.
// cmake/TandemProcessor.cmake says which one is compiled.
#pragma once

#include <span>

#include "tensor/isa/isa.h"

namespace tandem::tensor {

// Returns the levels of the family, lowest first.
std::span<const Isa> ProcessorLevels();

// Returns the highest of them that the processor and the kernel of the system offer. Throws
// UsageError where they do not even offer the lowest one.
Isa MachineIsa();

}  // namespace tandem::tensor
