// The levels of instruction sets that kernels are written for.
#pragma once

#include <string_view>

namespace tandem::tensor {

enum class Isa { kBaseline, kAvx2, kAvx512, kAvx512Bf16, kAmx };

// What the processor and the kernel offer, lowered by the environment variable TANDEM_ISA
// (baseline, avx2, avx512, avx512_bf16 or amx). Throws UsageError for another value, or for a level
// that this machine lacks. The baseline is at most SSE4.1.
Isa CurrentIsa();
std::string_view NameOf(Isa isa);

// Instructions for products of bytes, whatever TANDEM_ISA says. No level implies them, and some
// processors with no more than AVX2 have AVX-VNNI.
struct Int8Features {
  bool avx_vnni = false;
  bool avx512_vnni = false;
  bool amx_int8 = false;
};
Int8Features MachineInt8Features();

// Sets the limits of oneDNN, Highway and libtorch to CurrentIsa(), for the whole process. Part of
// SetUpProcess (process.h).
void ApplyIsa();

}  // namespace tandem::tensor
