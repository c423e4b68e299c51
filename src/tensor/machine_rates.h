// What this machine can do, measured: the limits that speeds are compared with.
#pragma once

#include <span>

#include "tensor/kernels/cpu/products.h"
#include "tensor/precision.h"
#include "tensor/profile.h"

namespace tandem::tensor {

// FLOP/s of products x B with x a tile of rows and B constant, one product per thread at a time,
// all threads of libtorch busy: all `shapes` once behind each other, at the tile height that is
// best for them, best of several attempts, by whoever multiplies for the encoder here or by oneDNN.
// 0 for no shapes. Takes about half a second.
double ProductRate(std::span<const ProductShape> shapes, Precision precision,
                   cpu::Multiplier multiplier = cpu::Multiplier::kFastest);

// FLOP/s of all threads of libtorch when they only multiply and add registers: the roof over every
// product. Best of several attempts; 0 where MultiplyRegisters (kernels/cpu/arithmetic.h) is. Takes
// about a tenth of a second.
double ArithmeticRate(Precision precision);

// Bytes/s of a = b + s c over arrays far larger than the caches, all threads, reads and writes
// counted once each; best of several attempts. Takes about a tenth of a second.
double MemoryRate();

}  // namespace tandem::tensor
