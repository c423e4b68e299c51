// C (+)= A B, for the small products of attention and as the kernel of panel_products.cc: A is read
// one element at a time and may be a transpose; rows of B and C are contiguous and a multiple of 16
// long.
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

// Has GCC unroll a loop of constant length before it decides what lies in registers. Not under
// AddressSanitizer: with a check of every access, unrolled loops take many minutes to compile.
#undef TANDEM_UNROLL
#undef TANDEM_PRAGMA
#define TANDEM_PRAGMA(text) _Pragma(#text)
#if defined(__SANITIZE_ADDRESS__)
#define TANDEM_UNROLL(count)
#else
#define TANDEM_UNROLL(count) TANDEM_PRAGMA(GCC unroll count)
#endif

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Rows of A, or of its transpose: element (row, k) lies at data[row * stride + k], or at
// data[k * stride + row].
template <typename Element>
struct Along {
  const Element* data;
  size_t stride;
};
template <typename Element>
struct Across {
  const Element* data;
  size_t stride;
};

template <typename Element>
struct Rows {
  const Element* data;
  size_t stride;
};

struct Output {
  float* HWY_RESTRICT data;
  size_t stride;
  bool add;                     // to what is there, else
  const float* bias = nullptr;  // to these, one a column, or to 0
};

HWY_INLINE FloatVec LoadElements(const float* from) { return hn::LoadU(FloatTag(), from); }
HWY_INLINE FloatVec Broadcast(const float* from) { return hn::Set(FloatTag(), *from); }

// sum + a b. In assembly, so that the result stays where the sum is: GCC takes forms of the
// instruction that write over a factor, and copies registers to and fro in unrolled loops.
HWY_INLINE FloatVec AddProducts(FloatVec a, FloatVec b, FloatVec sum) {
#if HWY_TARGET <= HWY_AVX2
  __asm__("vfmadd231ps %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
  return sum;
#else
  return hn::MulAdd(a, b, sum);
#endif
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

// Walks along the depth of kRows rows of A. Addresses are a few pointers and multiples of the
// stride that an instruction can add itself; Pin keeps GCC from making one pointer for every row,
// more than there are registers for.
template <size_t kRows, typename Element>
class AlongCursor {
 public:
  explicit HWY_INLINE AlongCursor(Along<Element> a) : stride_(a.stride) {
    TANDEM_UNROLL(8)
    for (size_t g = 0; g < kGroups; ++g) group_[g] = a.data + 3 * g * a.stride;
  }
  HWY_INLINE const Element* At(size_t row) const { return group_[row / 3] + row % 3 * stride_; }
  HWY_INLINE void Next() {
    TANDEM_UNROLL(8)
    for (size_t g = 0; g < kGroups; ++g) ++group_[g];
  }
  HWY_INLINE void Pin() {
    TANDEM_UNROLL(8)
    for (size_t g = 0; g < kGroups; ++g) __asm__("" : "+r"(group_[g]));
  }

 private:
  static constexpr size_t kGroups = (kRows + 2) / 3;
  const Element* group_[kGroups];
  size_t stride_;
};

template <size_t kRows, typename Element>
class AcrossCursor {
 public:
  explicit HWY_INLINE AcrossCursor(Across<Element> a) : at_(a.data), stride_(a.stride) {}
  HWY_INLINE const Element* At(size_t row) const { return at_ + row; }
  HWY_INLINE void Next() { at_ += stride_; }
  HWY_INLINE void Pin() { __asm__("" : "+r"(at_)); }

 private:
  const Element* at_;
  size_t stride_;
};

template <size_t kRows, typename Element>
HWY_INLINE AlongCursor<kRows, Element> CursorOf(Along<Element> a) {
  return AlongCursor<kRows, Element>(a);
}
template <size_t kRows, typename Element>
HWY_INLINE AcrossCursor<kRows, Element> CursorOf(Across<Element> a) {
  return AcrossCursor<kRows, Element>(a);
}

template <typename Element>
HWY_INLINE Along<Element> RowsFrom(Along<Element> a, size_t row) {
  return {a.data + row * a.stride, a.stride};
}
template <typename Element>
HWY_INLINE Across<Element> RowsFrom(Across<Element> a, size_t row) {
  return {a.data + row, a.stride};
}

// kRows x (kVectors * lanes) sums in registers: without the unrolling they pass through the stack.
template <size_t kRows, size_t kVectors>
struct Sums {
  FloatVec at[kRows][kVectors];

  template <typename Value>
  HWY_INLINE void Fill(const Value& value) {
    TANDEM_UNROLL(16)
    for (size_t r = 0; r < kRows; ++r) {
      TANDEM_UNROLL(4)
      for (size_t v = 0; v < kVectors; ++v) at[r][v] = value(r, v);
    }
  }

  HWY_INLINE void Store(Output c) const {
    const FloatTag d;
    TANDEM_UNROLL(16)
    for (size_t r = 0; r < kRows; ++r) {
      TANDEM_UNROLL(4)
      for (size_t v = 0; v < kVectors; ++v) {
        hn::StoreU(at[r][v], d, c.data + r * c.stride + v * hn::Lanes(d));
      }
    }
  }

  // Adds the product of one k.
  template <typename Cursor, typename Element>
  HWY_INLINE void Add(const Cursor& a, const Element* b) {
    decltype(LoadElements(b)) row[kVectors];
    TANDEM_UNROLL(4)
    for (size_t v = 0; v < kVectors; ++v) row[v] = LoadElements(b + v * hn::Lanes(FloatTag()));
    TANDEM_UNROLL(16)
    for (size_t r = 0; r < kRows; ++r) {
      const auto factor = Broadcast(a.At(r));
      TANDEM_UNROLL(4)
      for (size_t v = 0; v < kVectors; ++v) at[r][v] = AddProducts(factor, row[v], at[r][v]);
    }
  }
};

// Steps of a product along its depth.
inline constexpr size_t kStepDepth = 4;

// What a product does besides, once a step: nothing, or fetching memory for the next one.
struct Nothing {
  HWY_INLINE void Step() {}
};

// Adds the product of A's rows and B's columns over the whole of `depth`. Unrolled because a core
// that another thread shares decodes fewer instructions than it could multiply.
template <size_t kRows, size_t kVectors, template <typename> class A, typename Element,
          typename Aside>
HWY_INLINE void AddProduct(size_t depth, A<Element> a, Rows<Element> b, Aside& aside,
                           Sums<kRows, kVectors>& sums) {
  auto cursor = CursorOf<kRows>(a);
  const Element* row = b.data;
  for (size_t k = depth / kStepDepth; k > 0; --k) {
    cursor.Pin();
    aside.Step();
    TANDEM_UNROLL(4)
    for (size_t u = 0; u < kStepDepth; ++u) {
      sums.Add(cursor, row);
      cursor.Next();
      row += b.stride;
    }
  }
  for (size_t k = depth % kStepDepth; k > 0; --k) {
    sums.Add(cursor, row);
    cursor.Next();
    row += b.stride;
  }
}

// kRows x (kVectors * lanes) of C.
template <size_t kRows, size_t kVectors, template <typename> class A, typename Element,
          typename Aside>
HWY_INLINE void ProductTile(size_t depth, A<Element> a, Rows<Element> b, Output c, Aside& aside) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  Sums<kRows, kVectors> sums;
  if (c.add) {
    sums.Fill([d, c, lanes](size_t r, size_t v)
                  HWY_ATTR { return hn::LoadU(d, c.data + r * c.stride + v * lanes); });
  } else if (c.bias) {
    sums.Fill([d, c, lanes](size_t, size_t v)
                  HWY_ATTR { return hn::LoadU(d, c.bias + v * lanes); });
  } else {
    sums.Fill([d](size_t, size_t) HWY_ATTR { return hn::Zero(d); });
  }
  AddProduct(depth, a, b, aside, sums);
  sums.Store(c);
}

// kRows rows of C. A function of its own for every number of rows, so that callers do not hold
// copies of them all.
template <size_t kRows, template <typename> class A, typename Element>
HWY_NOINLINE void ProductRows(size_t columns, size_t depth, A<Element> a, Rows<Element> b,
                              Output c) {
  const size_t lanes = hn::Lanes(FloatTag());
  Nothing nothing;
  size_t n = 0;
  const auto tile = [&]<size_t kVectors>() HWY_ATTR {
    ProductTile<kRows, kVectors, A, Element>(
        depth, a, {b.data + n, b.stride},
        {c.data + n, c.stride, c.add, c.bias ? c.bias + n : nullptr}, nothing);
    n += kVectors * lanes;
  };
  while (n + 2 * lanes <= columns) tile.template operator()<2>();
  if (n < columns) tile.template operator()<1>();
}

// Two vectors a row and this many rows fill the registers: 32 of them from AVX-512 on, else 16.
#if HWY_TARGET <= HWY_AVX3
inline constexpr size_t kProductRows = 12;
#else
inline constexpr size_t kProductRows = 6;
#endif

// `rows` of them, at most kRows.
template <size_t kRows, template <typename> class A, typename Element>
HWY_INLINE void ProductOfRows(size_t rows, size_t columns, size_t depth, A<Element> a,
                              Rows<Element> b, Output c) {
  if constexpr (kRows > 0) {
    if (rows == kRows) {
      ProductRows<kRows, A, Element>(columns, depth, a, b, c);
    } else {
      ProductOfRows<kRows - 1, A, Element>(rows, columns, depth, a, b, c);
    }
  }
}

// A is [rows, depth], B [depth, columns], C [rows, columns]; the depth counts elements.
template <template <typename> class A, typename Element>
HWY_INLINE void SmallProduct(size_t rows, size_t columns, size_t depth, A<Element> a,
                             Rows<Element> b, Output c) {
  for (size_t m = 0; m < rows; m += kProductRows) {
    ProductOfRows<kProductRows, A, Element>(std::min(kProductRows, rows - m), columns, depth,
                                            RowsFrom(a, m), b,
                                            {c.data + m * c.stride, c.stride, c.add, c.bias});
  }
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
