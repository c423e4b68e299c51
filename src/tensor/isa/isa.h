// The levels of instruction sets that kernels are written for.
#pragma once

#include <string_view>
#include <vector>

namespace tandem::tensor {

// Each level has what the ones before it have, for kernels: kBaseline is SSE4.2, whose vectors have
// four floats and which cannot multiply and add at once; kNeon can. kNeon is arm64's only level,
// all others are those of x86-64.
enum class Isa { kBaseline, kNeon, kAvx2, kAvx512, kAvx512Bf16, kAmx };

// Returns the level that the processor and the kernel offer, lowered by the environment variable
// TANDEM_ISA (baseline, avx2, avx512, avx512_bf16 or amx; on arm64 neon). Throws UsageError for
// another value, or for a level that this machine lacks, and where it has not even the lowest one.
Isa CurrentIsa();
std::string_view NameOf(Isa isa);
bool IsaIsGiven();  // TANDEM_ISA says something

// Instructions for products of bytes, whatever TANDEM_ISA says. No level implies them, and some
// processors with no more than AVX2 have AVX-VNNI.
struct Int8Features {
  bool avx_vnni = false;
  bool avx512_vnni = false;
  bool amx_int8 = false;
};
Int8Features MachineInt8Features();

// Returns the features of this processor by which kernels are chosen, as Linux names them; those of
// AMX only if Linux lets this process use them. TANDEM_ISA has no influence.
std::vector<std::string_view> MachineFeatures();

// Name the instructions with which kernels of a level multiply: "AMX-BF16", "AVX512-BF16" or ""
// (bf16 is not offered below), and "AMX-INT8", "VNNI" or "16-bit products".
std::string_view Bf16Instructions(Isa isa);
std::string_view Int8Instructions(Isa isa, const Int8Features& machine);

// Sets the limits of oneDNN and Highway, and of a back end that is loaded later, to CurrentIsa(),
// for the whole process. Part of SetUpProcess (machine/process.h). Defined in the room `tensor`.
void ApplyIsa();

}  // namespace tandem::tensor
