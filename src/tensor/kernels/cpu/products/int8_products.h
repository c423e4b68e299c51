// Matrix products of factors that are rounded to eight bits. products.cc uses them where it is told
// to. A product is one thread's work.
//
// Every column of the constant factor B has a scale: B(k, n) is about column_scale[n] w(k, n), with
// w from -127 to 127. Every row of the other factor x has a scale and a zero, which are taken from
// its numbers whenever it is multiplied: x(r, k) is about row_scale[r] (q(r, k) - zero[r]), with q
// and zero from 0 to 255, so that 0 is exact and all 256 values are used also where a row has few
// numbers of one sign, as after GELU. The sums of (q - zero) w are whole numbers of 32 bits, which
// every kernel computes exactly. So they all give the same results, bit for bit, where an
// instruction multiplies and adds at once: from AVX2 on, and on arm64. A result depends on its own
// row of x and column of B only.
#pragma once

#include <hwy/aligned_allocator.h>

#include <cstddef>
#include <cstdint>

#include "tensor/kernels/cpu/products/float_factor.h"
#include "tensor/kernels/cpu/products/matrix.h"

namespace tandem::tensor::cpu {

enum class Int8Kernel {
  kWiden,  // 16-bit products, on every processor
  kVnni,   // four 8-bit products a lane by one instruction: AVX512-VNNI or AVX-VNNI
  kTiles,  // AMX-INT8
};
inline constexpr Int8Kernel kInt8Kernels[] = {Int8Kernel::kWiden, Int8Kernel::kVnni,
                                              Int8Kernel::kTiles};
const char* NameOf(Int8Kernel kernel);  // "16-bit products", "VNNI", "AMX-INT8"

// Says whether this processor and the kernel of the system offer it, whatever TANDEM_ISA says.
bool IsAvailable(Int8Kernel kernel);
// The fastest one that is available and within CurrentIsa().
Int8Kernel FastestInt8Kernel();

// Depth and columns must be multiples of this unit, and the depth at most this: a deeper sum could
// leave 32 bits.
inline constexpr size_t kInt8Unit = 16;
inline constexpr size_t kMostInt8Depth = 65536;

// The constant factor B [depth, columns]. Throws std::logic_error for shapes that are not allowed.
class Int8Matrix {
 public:
  // AMX's tiles need a multiple of 32 columns: other matrices get kVnni, or where that is not
  // available, kWiden.
  Int8Matrix(size_t depth, size_t columns, Int8Kernel kernel);

  // Parts of B begin at multiples of this, which is a multiple of the width of every kernel's
  // panels.
  static constexpr size_t kPartColumns = 96;
  // Rounds the columns of B from `first` on; b.depth is the depth. A column with a number that is
  // not finite makes all results of it NaN. Several threads may pack parts at the same time.
  void Pack(const FloatFactor& b, size_t first = 0);

  size_t depth() const { return depth_; }
  size_t columns() const { return columns_; }
  Int8Kernel kernel() const { return kernel_; }
  // The depth with the zeros that fill it up to a multiple of what the kernel steps over.
  size_t padded_depth() const { return padded_depth_; }

  const int8_t* values() const { return values_.get(); }      // [padded_depth * columns]
  const float* scales() const { return scales_.get(); }       // [columns]
  const int32_t* column_sums() const { return sums_.get(); }  // [columns], of w

 private:
  size_t depth_;
  size_t columns_;
  Int8Kernel kernel_;
  size_t padded_depth_;
  hwy::AlignedFreeUniquePtr<int8_t[]> values_;
  hwy::AlignedFreeUniquePtr<float[]> scales_;
  hwy::AlignedFreeUniquePtr<int32_t[]> sums_;
};

// Some columns of a matrix, for the kernels that fill it.
struct Int8Part {
  size_t padded_depth;
  Int8Kernel kernel;
  int8_t* values;
  float* scales;
  int32_t* sums;
};

// out [rows, columns] = x [rows, depth] B + bias [columns] (null: none), or, `add`, out += x B. x
// and out are floats or bf16; strides in elements. A row of x with a number that is not finite, or
// whose numbers span more than a float holds, becomes a row of NaN. A row whose numbers are all
// within 1e-30 counts as zeros.
struct Int8Product {
  const void* x;
  Type x_type;
  size_t x_stride;
  const Int8Matrix& b;
  const float* bias;
  void* out;
  Type out_type;
  size_t out_stride;
  bool add = false;
};
void MultiplyInt8(const Int8Product& product, size_t rows);

}  // namespace tandem::tensor::cpu
