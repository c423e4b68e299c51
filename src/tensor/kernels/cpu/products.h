// Matrix products on the CPU: through oneDNN, or by our own kernels where they are faster: those of
// panel_products.h for floats on processors with AVX2 or AVX-512, those of tiled_products.h for
// bf16 on AMX. The only file that includes oneDNN is products.cc; what differs between oneDNN 2.x
// and 3.x stays there.
//
// A product here is one thread's work on a tile of rows: callers split rows over OpenMP threads and
// call from inside the parallel region, where oneDNN uses the calling thread only. Tiles of 64 rows
// already run at nearly the full rate of a core, and what follows a product (bias, GELU,
// normalisation) finds the tile in the core's cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tandem::tensor::cpu {

enum class Type { kFloat, kBf16 };

struct ConstMatrix {
  const void* data;
  int64_t stride;  // elements from one row to the next
};

struct Matrix {
  void* data;
  int64_t stride;
};

// Who multiplies: whoever is fastest here, or oneDNN, to compare with.
enum class Multiplier { kFastest, kOneDnn };

// The constant factor of `x B`, B [depth, columns], in the layout that its multiplier likes best.
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

  int64_t depth() const { return depth_; }
  int64_t columns() const { return columns_; }
  Type type() const { return type_; }

  struct Storage;
  const Storage& storage() const { return *storage_; }

 private:
  int64_t depth_;
  int64_t columns_;
  Type type_;
  std::unique_ptr<Storage> storage_;
};

// out [rows, columns] = x [rows, depth] * packed + bias [columns] (null: none). x has the packed
// type and, where that is bf16, an even stride; out is float or the packed type.
void MultiplyPacked(ConstMatrix x, int64_t rows, const PackedMatrix& packed, const float* bias,
                    Matrix out, Type out_type);

// activated = gelu(before), before = x B + bias (null: none): [rows, columns] and x [rows, depth]
// of the packed type A, contiguous; `before` may be null where it is not wanted.
template <typename A>
void MultiplyToGelu(const A* x, size_t rows, const PackedMatrix& packed, const float* bias,
                    A* before, A* activated);

// The way back: grad = x B gelu'(before), and activated = gelu(before) once more; column_sums
// [columns] (null: not wanted) gain the sums of grad over rows.
template <typename A>
void MultiplyToGeluGradient(const A* x, size_t rows, const PackedMatrix& packed, const A* before,
                            A* grad, A* activated, float* column_sums);

// sum [m, n] float, contiguous, = or (`add`) += a^T b for a [depth, m], b [depth, n], both of
// `type`: the gradient of a weight.
void MultiplyTransposed(ConstMatrix a, ConstMatrix b, int64_t depth, int64_t m, int64_t n,
                        Type type, float* sum, bool add);

// out [m, n] float = a [m, depth] * b [n, depth]^T, all float, contiguous, on all threads: scores
// of queries against documents.
void MultiplyRowsByRows(const float* a, int64_t m, const float* b, int64_t n, int64_t depth,
                        float* out);

// Lets oneDNN use instructions up to this level only ("baseline", "avx2", "avx512", "avx512_bf16",
// "amx"). Before the first product; returns false when it is too late.
bool LimitProductIsa(const char* level);

// "oneDNN 2.6.3".
const char* ProductLibraryVersion();

}  // namespace tandem::tensor::cpu
