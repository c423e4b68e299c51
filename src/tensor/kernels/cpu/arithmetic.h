// What a core can multiply at most: the roof over every matrix product.
#pragma once

#include <cstddef>

#include "tensor/kernels/cpu/products.h"

namespace tandem::tensor::cpu {

// Multiplies and adds registers, `steps` times, without reading memory, and returns how many FLOPs
// that was: by the widest instruction for `type` that CurrentIsa() has, on AMX by tiles. 0 where
// there is none: bf16 below AVX512-BF16.
double MultiplyRegisters(Type type, size_t steps);

}  // namespace tandem::tensor::cpu
