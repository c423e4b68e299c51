// Measures this machine's rates, so that speeds can be compared with them.
#pragma once

#include <span>

#include "tensor/kernels/cpu/products/products.h"
#include "tensor/machine/precision.h"
#include "tensor/profile/profile.h"

namespace tandem::tensor {

// FLOP/s of products x B of a tile of rows with a constant B. All threads (core/parallel.h)
// multiply at the same time, and each thread computes the products of all `shapes` one after the
// other. They use the implementation that the encoder uses on this processor (for kInt8 with the
// rounding of x, which is a part of it), or oneDNN (for kInt8 in ActivationPrecision). The result
// is the best of several tile heights and attempts; 0 for no shapes. Takes about half a second.
double ProductRate(std::span<const ProductShape> shapes, Precision precision,
                   cpu::Multiplier multiplier = cpu::Multiplier::kFastest);

// FLOP/s of all threads when they only multiply and add registers, which bounds every
// product. Best of several attempts; 0 where MultiplyRegisters (kernels/cpu/arithmetic.h) returns
// 0. Takes about a tenth of a second.
double ArithmeticRate(Precision precision);

// Bytes/s of all threads that compute a = b + s c over arrays far larger than the caches. Counts
// every read and write once; best of several attempts. Takes about a tenth of a second.
double MemoryRate();

}  // namespace tandem::tensor
