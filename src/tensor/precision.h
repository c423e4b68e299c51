// Arithmetic of matrix products, and what this processor can do.
#pragma once

#include <string>
#include <string_view>

namespace tandem::tensor {

enum class Precision { kFp32, kBf16 };

// "auto" (fp32 below AVX512-BF16, bf16 from there), "fp32" or "bf16". Throws UsageError for another
// name and for "bf16" where oneDNN has no fast bf16 product.
Precision ResolvePrecision(std::string_view name);
std::string_view PrecisionName(Precision precision);

// "avx2", "avx512", "avx512_bf16" or "amx": the highest level of this processor, or the lower one
// that TANDEM_ISA asks for.
std::string_view IsaName();

}  // namespace tandem::tensor
