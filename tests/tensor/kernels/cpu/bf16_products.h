// Says where products of bf16 can be tested.
#pragma once

#include <vector>

#include "tensor/isa/isa.h"
#include "tensor/machine/precision.h"

namespace tandem::tensor {

// oneDNN multiplies in bf16 from AVX-512 on; on older processors nobody asks it to, because
// `--precision bf16` is refused there.
inline bool HasBf16Products() { return CurrentIsa() >= Isa::kAvx512; }

inline std::vector<Precision> TestedPrecisions() {
  if (!HasBf16Products()) return {Precision::kFp32};
  return {Precision::kFp32, Precision::kBf16};
}

}  // namespace tandem::tensor
