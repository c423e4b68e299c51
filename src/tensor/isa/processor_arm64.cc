#include <asm/hwcap.h>
#include <sys/auxv.h>

#include "base/error.h"
#include "tensor/isa/processor.h"

namespace tandem::tensor {
namespace {

constexpr Isa kLevels[] = {Isa::kNeon};

// Linux calls NEON's instructions of arm64 so: Advanced SIMD.
bool HasAdvancedSimd() { return (::getauxval(AT_HWCAP) & HWCAP_ASIMD) != 0; }

}  // namespace

std::span<const Isa> ProcessorLevels() { return kLevels; }

Isa MachineIsa() {
  if (!HasAdvancedSimd()) {
    throw UsageError("this processor has no NEON, which Tandem's kernels are written for");
  }
  return Isa::kNeon;
}

std::vector<std::string_view> MachineFeatures() {
  if (!HasAdvancedSimd()) return {};
  return {"asimd"};
}

// None of them is arm64's.
Int8Features MachineInt8Features() { return {}; }

}  // namespace tandem::tensor
