// Arithmetic of matrix products, and what this processor can do.
#pragma once

#include <string>
#include <string_view>

namespace tandem::tensor {

// kInt8: an encoder's products with weights round both factors to eight bits
// (kernels/cpu/int8_products.h). Forward passes only; everything between the products is as in
// ActivationPrecision.
enum class Precision { kFp32, kBf16, kInt8 };

// "auto" (fp32 below AVX512-BF16, bf16 from there; never int8), "fp32", "bf16" or "int8". Throws
// UsageError for another name and for "bf16" where oneDNN has no fast bf16 product.
Precision ResolvePrecision(std::string_view name);
// The same for what has a backward pass: throws UsageError for "int8".
Precision ResolveTrainingPrecision(std::string_view name);
std::string_view PrecisionName(Precision precision);  // "fp32", "bf16" or "int8"

// What activations and attention have: fp32 or bf16. For kInt8 that is bf16 where the processor has
// fast bf16 products.
Precision ActivationPrecision(Precision precision);

// "avx2", "avx512", "avx512_bf16" or "amx": the highest level of this processor, or the lower one
// that TANDEM_ISA asks for.
std::string_view IsaName();

}  // namespace tandem::tensor
