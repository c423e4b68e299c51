// Matrix products on the CPU. Each runs on the implementation that is fastest on this processor:
// panel_products.h for floats with AVX2, AVX-512 or NEON, tiled_products.h for bf16 with AMX,
// onednn_products.h for everything else. Where asked to, int8_products.h rounds both factors to
// eight bits.
//
// A product is one thread's work on a tile of rows: callers split rows over OpenMP threads and call
// from inside the parallel region. Tiles of 64 rows already run at nearly the full rate of a core,
// and what follows a product (bias, GELU, normalisation) finds the tile in the core's cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tensor/kernels/cpu/products/matrix.h"
#include "tensor/kernels/cpu/products/stored_rows.h"

namespace tandem::tensor::cpu {

// Says which implementation multiplies: the one that is fastest on this processor; oneDNN, as a
// comparison; or the kernels that round both factors to eight bits (int8_products.h says how), for
// factors whose depth and columns are multiples of 16. What is not packed is never rounded.
enum class Multiplier { kFastest, kOneDnn, kInt8 };

// The constant factor of `x B`, B [depth, columns], in the layout that its multiplier reads.
class PackedMatrix {
 public:
  PackedMatrix(int64_t depth, int64_t columns, Type type,
               Multiplier multiplier = Multiplier::kFastest);
  PackedMatrix(PackedMatrix&&) noexcept;
  PackedMatrix& operator=(PackedMatrix&&) noexcept;
  ~PackedMatrix();

  // Fills B from floats: B(k, n) = source[k * depth_stride + n * column_stride]. One of the strides
  // must be 1. Runs on all OpenMP threads when called outside a parallel region.
  void Pack(const float* source, int64_t depth_stride, int64_t column_stride);
  // Fills B with W [N, width], the parts one below the other, or (`transposed`) with its transpose.
  // Converts a part of W at a time to floats where a kernel of ours multiplies, and all of it for
  // oneDNN, unless all is bf16. It is the copy that Pack makes from these floats. It, too, runs on
  // all OpenMP threads.
  void PackStored(std::span<const StoredRows> parts, int64_t width, bool transposed);

  int64_t depth() const { return depth_; }
  int64_t columns() const { return columns_; }
  Type type() const { return type_; }  // of the other factor
  Multiplier multiplier() const { return multiplier_; }

  struct Storage;
  const Storage& storage() const { return *storage_; }

 private:
  void PackStoredByOneDnn(std::span<const StoredRows> parts, int64_t width, bool transposed);

  int64_t depth_;
  int64_t columns_;
  Type type_;
  Multiplier multiplier_;
  std::unique_ptr<Storage> storage_;
};

// out [rows, columns] = x [rows, depth] * B + bias [columns] (null: none), or, `add`, out += x B,
// without a bias, for a multiple of 16 columns. x has the type of B, and an even stride where that
// is bf16. out is float or has the type of B; a sum is rounded once. Where B is for kInt8, what is
// not finite in a row of x makes the whole row of out NaN.
struct PackedProduct {
  ConstMatrix x;
  int64_t rows;
  const PackedMatrix& b;
  const float* bias;
  Matrix out;
  Type out_type;
  bool add = false;
};
void MultiplyPacked(const PackedProduct& product);

// activated = gelu(before), where before = x B + bias (null: none). A is the type of B; all arrays
// are without gaps.
template <typename A>
struct GeluProduct {
  const A* x;  // [rows, depth]
  size_t rows;
  const PackedMatrix& b;
  const float* bias;
  A* before;     // [rows, columns]; null: not wanted
  A* activated;  // [rows, columns]
};
template <typename A>
void MultiplyToGelu(const GeluProduct<A>& product);

// The backward pass through gelu(before), whose gradient is x B: grad = x B gelu'(before), and
// activated = gelu(before) once more.
template <typename A>
struct GeluGradientProduct {
  const A* x;  // [rows, depth]
  size_t rows;
  const PackedMatrix& b;
  const A* before;     // [rows, columns]
  A* grad;             // [rows, columns]
  A* activated;        // [rows, columns]
  float* column_sums;  // [columns]: the sums of grad over rows are added to it; null: not wanted
};
template <typename A>
void MultiplyToGeluGradient(const GeluGradientProduct<A>& product);

void MultiplyTransposed(const WeightGradient& product);

// One thread's work. Equal rows of b have equal products, wherever they stand.
void MultiplyRowsByRows(const RowsByRows& product);

// Makes oneDNN use no instructions above this level ("baseline", "avx2", "avx512", "avx512_bf16",
// "amx"). Call it before the first product; returns false when it is too late.
bool LimitProductIsa(const char* level);

// "oneDNN 2.6.3".
const char* ProductLibraryVersion();

}  // namespace tandem::tensor::cpu
