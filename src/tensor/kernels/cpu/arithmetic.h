// The highest rate of multiplications of a core, which bounds that of every matrix product.
#pragma once

#include <cstddef>

#include "tensor/kernels/cpu/products/products.h"

namespace tandem::tensor::cpu {

// Multiplies and adds registers in `steps` steps, without reading memory, and returns how many
// FLOPs that was. Uses the widest instruction for `type` that CurrentIsa() has, tiles on AMX.
// Returns 0 where there is none: for bf16 below AVX512-BF16.
double MultiplyRegisters(Type type, size_t steps);

}  // namespace tandem::tensor::cpu
