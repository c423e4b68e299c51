// The products of general attention in vector registers: of floats, and with AVX512-BF16 of pairs
// of bf16 values (attention_pairs-inl.h says what a pair is). Included once per target by
// general_attention.cc.
#if defined(TANDEM_TENSOR_GENERAL_ATTENTION_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_GENERAL_ATTENTION_VECTORS_INL_H_
#undef TANDEM_TENSOR_GENERAL_ATTENTION_VECTORS_INL_H_
#else
#define TANDEM_TENSOR_GENERAL_ATTENTION_VECTORS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tensor/kernels/cpu/attention/attention_pairs-inl.h"
#include "tensor/kernels/cpu/attention/attention_rows-inl.h"
#include "tensor/kernels/cpu/attention/attention_scores-inl.h"
#include "tensor/kernels/cpu/attention/general_attention_task.h"
#include "tensor/kernels/cpu/rows/row_pairs-inl.h"
#include "tensor/kernels/cpu/scratch.h"
#include "tensor/kernels/cpu/products/small_product-inl.h"
#include "tensor/kernels/cpu/rows/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

// C = A B for B in panels of kKeyUnit columns, one after the other, [depth, kKeyUnit] each.
template <typename Element>
HWY_INLINE void PanelProduct(const SmallShape& shape, RowMajor<Element> a, const Element* panels,
                             Output c) {
  for (size_t n = 0; n < shape.columns; n += kKeyUnit) {
    SmallProduct({shape.rows, kKeyUnit, shape.depth}, a, Rows<Element>{panels, kKeyUnit},
                 {c.data + n, c.stride, false});
    panels += shape.depth * kKeyUnit;
  }
}

// Each struct of this kind says how values of type A are laid out for products. `padded` is a
// multiple of kKeyUnit; rows from `rows` to `padded` become zero.
template <typename A>
struct OfFloats {
  using Activation = A;
  using Element = float;
  using Probability = float;
  static constexpr bool kForBf16 = false;
  // Rows of channels can also be left factors.
  static constexpr bool kRowsAreLeft = true;
  static constexpr size_t kForwardRows = 24;
  static constexpr size_t kBackwardRows = 36;

  // Elements that so many channels or tokens are, along the depth of a product.
  static constexpr size_t Depth(size_t count) { return count; }

  // Rows as the panels of PanelProduct.
  static HWY_INLINE void PackPanels(const StridedRows<const A>& from, size_t rows, size_t padded,
                                    float* to) {
    const size_t width = from.width;
    float* work = AllocateScratchArray<float, OfFloats>(kKeyUnit * width);
    for (size_t r = 0; r < padded; r += kKeyUnit) {
      const size_t count = r < rows ? std::min(kKeyUnit, rows - r) : 0;
      LoadRows(StridedRows<const A>{from.data + r * from.stride, from.stride, width}, count,
               rows - std::min(r, rows), work);
      Transpose({work, width * sizeof(float), count, width}, kKeyUnit,
                reinterpret_cast<uint32_t*>(to + r * width));
    }
  }
  // Rows whose tokens run along the depth, [padded, width].
  static HWY_INLINE void PackRows(const StridedRows<const A>& from, size_t rows, size_t padded,
                                  float* to) {
    LoadRows(from, rows, rows, to);
    std::memset(to + rows * from.width, 0, sizeof(float) * (padded - rows) * from.width);
  }
  // Rows as left factors, whose channels run along the depth; as many as fill register tiles.
  static HWY_INLINE void PackLeft(const StridedRows<const A>& from, size_t rows, float* to) {
    PackRows(from, rows, RoundUp(rows, kTileUnit), to);
  }
  using StoreRows = StoreFloats;
  static HWY_INLINE void StoreProbability(FloatVec v, float* to) { hn::StoreU(v, FloatTag(), to); }
  static HWY_INLINE RowMajor<float> Left(const float* probabilities, size_t stride) {
    return {probabilities, stride};
  }
  // The transpose of `rows` rows of probabilities as a left factor.
  static HWY_INLINE Transposed<float> LeftTransposed(const float* probabilities, size_t stride,
                                                     size_t /*rows*/, size_t /*columns*/,
                                                     float* /*work*/) {
    return {probabilities, stride};
  }
};

#if HWY_TARGET <= HWY_AVX3
struct OfPairs {
  using Activation = Bf16;
  using Element = uint32_t;
  using Probability = Bf16;
  static constexpr bool kForBf16 = true;
  static constexpr bool kRowsAreLeft = false;
  static constexpr size_t kForwardRows = 24;
  static constexpr size_t kBackwardRows = 36;

  static constexpr size_t Depth(size_t count) { return (count + 1) / 2; }

  static HWY_INLINE void PackPanels(const StridedRows<const Bf16>& from, size_t rows, size_t padded,
                                    uint32_t* to) {
    const size_t words = from.width / 2;
    for (size_t r = 0; r < padded; r += kKeyUnit) {
      const size_t count = r < rows ? std::min(kKeyUnit, rows - r) : 0;
      Transpose({from.data + r * from.stride, from.stride * sizeof(Bf16), count, words}, kKeyUnit,
                to + r * words);
    }
  }
  static HWY_INLINE void PackRows(const StridedRows<const Bf16>& from, size_t rows, size_t padded,
                                  uint32_t* to) {
    PackPaddedPairs(from, rows, padded, to);
  }
  static HWY_INLINE void PackLeft(const StridedRows<const Bf16>& from, size_t rows, uint32_t* to) {
    for (size_t r = 0; r < rows; ++r) {
      std::memcpy(to + r * from.width / 2, from.data + r * from.stride, 2 * from.width);
    }
    const size_t missing = RoundUp(rows, kTileUnit) - rows;
    std::memset(to + rows * from.width / 2, 0, 2 * missing * from.width);
  }
  using StoreRows = StoreBf16;
  static HWY_INLINE void StoreProbability(FloatVec v, Bf16* to) { StoreRounded(v, to); }
  static HWY_INLINE RowMajor<uint32_t> Left(const Bf16* probabilities, size_t stride) {
    return {AsWords(probabilities), stride / 2};
  }
  static HWY_INLINE Transposed<uint32_t> LeftTransposed(const Bf16* probabilities, size_t stride,
                                                        size_t rows, size_t columns,
                                                        uint32_t* work) {
    PackRowPairs({probabilities, stride, columns}, rows, work);
    return {work, columns};
  }
};
#endif

// The products of the forward pass with a chunk of keys and values.
template <typename Layout>
class VectorProducts : public Layout {
 public:
  static constexpr bool kFuses = true;  // products of floats in registers can become exponentials
  using Element = typename Layout::Element;
  using Probability = typename Layout::Probability;

  // [rows, span] = the block's queries times the chunk's keys from `first` on.
  HWY_INLINE void MultiplyKeys(const SmallShape& shape, const Element* queries, const Element* keys,
                               size_t first, Output c) {
    const size_t depth = Layout::Depth(shape.depth);
    PanelProduct({shape.rows, shape.columns, depth}, RowMajor<Element>{queries, depth},
                 keys + first * depth, c);
  }
  // [rows, width] (+)= probabilities [rows, span] times the chunk's values from `first` on.
  HWY_INLINE void MultiplyValues(const SmallShape& shape, const Probability* probabilities,
                                 size_t stride, const Element* values, size_t first, Output c) {
    SmallProduct({shape.rows, shape.columns, Layout::Depth(shape.depth)},
                 Layout::Left(probabilities, stride),
                 Rows<Element>{values + Layout::Depth(first) * shape.columns, shape.columns}, c);
  }
};

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
