// C (+)= A B for the small products of attention: A is read one element at a time with any strides,
// so that it may be a transpose; rows of B and C are contiguous and a multiple of 16 long.
//
// Elements are floats or, where the processor multiplies bf16, words: two bf16 values that follow
// each other along the depth of the product, whose products are summed into one float.
#if defined(TANDEM_TENSOR_SMALL_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_SMALL_PRODUCT_INL_H_
#undef TANDEM_TENSOR_SMALL_PRODUCT_INL_H_
#else
#define TANDEM_TENSOR_SMALL_PRODUCT_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tensor/kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename Element>
struct Strided {
  const Element* data;
  size_t row_stride;
  size_t column_stride;
};

template <typename Element>
struct Rows {
  const Element* data;
  size_t stride;
};

struct Output {
  float* HWY_RESTRICT data;
  size_t stride;
  bool add;  // to what is there, else overwrite
};

HWY_INLINE FloatVec LoadElements(const float* from) { return hn::LoadU(FloatTag(), from); }
HWY_INLINE FloatVec Broadcast(const float* from) { return hn::Set(FloatTag(), *from); }
HWY_INLINE FloatVec AddProducts(FloatVec a, FloatVec b, FloatVec sum) {
  return hn::MulAdd(a, b, sum);
}

#if HWY_TARGET <= HWY_AVX3
HWY_INLINE WordVec LoadElements(const uint32_t* from) { return hn::LoadU(WordTag(), from); }
HWY_INLINE WordVec Broadcast(const uint32_t* from) {
  uint32_t word;  // two bf16 values of a row that was written as such
  std::memcpy(&word, from, sizeof word);
  return hn::Set(WordTag(), word);
}
// Needs AVX512-BF16, which this target does not imply: the caller asks tensor/isa.h. Spelled in
// assembly because Highway 1.0 has no name for it.
HWY_INLINE FloatVec AddProducts(WordVec a, WordVec b, FloatVec sum) {
  __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
  return sum;
}
#endif

// kRows x (kVectors * lanes) of C in registers over the whole of `depth`.
template <size_t kRows, size_t kVectors, typename Element>
HWY_INLINE void ProductTile(size_t depth, Strided<Element> a, Rows<Element> b, Output c) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  FloatVec sums[kRows][kVectors];
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t v = 0; v < kVectors; ++v) {
      sums[r][v] = c.add ? hn::LoadU(d, c.data + r * c.stride + v * lanes) : hn::Zero(d);
    }
  }
  for (size_t k = 0; k < depth; ++k) {
    decltype(LoadElements(b.data)) row[kVectors];
    for (size_t v = 0; v < kVectors; ++v) row[v] = LoadElements(b.data + k * b.stride + v * lanes);
    for (size_t r = 0; r < kRows; ++r) {
      const auto factor = Broadcast(a.data + r * a.row_stride + k * a.column_stride);
      for (size_t v = 0; v < kVectors; ++v) sums[r][v] = AddProducts(factor, row[v], sums[r][v]);
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t v = 0; v < kVectors; ++v) {
      hn::StoreU(sums[r][v], d, c.data + r * c.stride + v * lanes);
    }
  }
}

// A function of its own for every number of rows, so that callers do not hold copies of them all.
template <size_t kRows, typename Element>
HWY_NOINLINE void ProductRows(size_t columns, size_t depth, Strided<Element> a, Rows<Element> b,
                              Output c) {
  const size_t lanes = hn::Lanes(FloatTag());
  size_t n = 0;
  for (; n + 2 * lanes <= columns; n += 2 * lanes) {
    ProductTile<kRows, 2, Element>(depth, a, {b.data + n, b.stride}, {c.data + n, c.stride, c.add});
  }
  for (; n < columns; n += lanes) {
    ProductTile<kRows, 1, Element>(depth, a, {b.data + n, b.stride}, {c.data + n, c.stride, c.add});
  }
}

// Two vectors a row and this many rows fill the registers: 32 of them from AVX-512 on, else 16.
#if HWY_TARGET <= HWY_AVX3
inline constexpr size_t kProductRows = 12;
#else
inline constexpr size_t kProductRows = 6;
#endif

// `rows` of them, at most kRows.
template <size_t kRows, typename Element>
HWY_INLINE void ProductOfRows(size_t rows, size_t columns, size_t depth, Strided<Element> a,
                              Rows<Element> b, Output c) {
  if constexpr (kRows > 0) {
    if (rows == kRows) {
      ProductRows<kRows, Element>(columns, depth, a, b, c);
    } else {
      ProductOfRows<kRows - 1, Element>(rows, columns, depth, a, b, c);
    }
  }
}

// A is [rows, depth], B [depth, columns], C [rows, columns]; the depth counts elements.
template <typename Element>
HWY_INLINE void SmallProduct(size_t rows, size_t columns, size_t depth, Strided<Element> a,
                             Rows<Element> b, Output c) {
  for (size_t m = 0; m < rows; m += kProductRows) {
    ProductOfRows<kProductRows, Element>(std::min(kProductRows, rows - m), columns, depth,
                                         {a.data + m * a.row_stride, a.row_stride, a.column_stride},
                                         b, {c.data + m * c.stride, c.stride, c.add});
  }
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
