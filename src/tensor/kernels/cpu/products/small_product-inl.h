// C (+)= A B for matrices that fit the caches: the products of attention, and the inner loop of
// panel_products.cc. A is read one element at a time and may be transposed; rows of B and C are
// contiguous, and their length is a multiple of 16.
//
// An element is a float, or a word: a pair of bf16 values that are neighbours along the depth, for
// vdpbf16ps, which adds the products of both to one float.
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

// Makes GCC unroll a loop of constant length early enough to keep arrays in registers; it does not
// under AddressSanitizer: with a check of every access, such loops take many minutes to compile.
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

// A as it is stored: element (row, k) is data[row * stride + k] of a RowMajor, and
// data[k * stride + row] of a Transposed.
template <typename Element>
struct RowMajor {
  const Element* data;
  size_t stride;
};
template <typename Element>
struct Transposed {
  const Element* data;
  size_t stride;
};

// B: element (k, column) is data[k * stride + column].
template <typename Element>
struct Rows {
  const Element* data;
  size_t stride;
};

// C, and what the product is added to: to C itself (`add`), else to a row of biases, else to 0.
struct Output {
  float* HWY_RESTRICT data;
  size_t stride;
  bool add;
  const float* bias = nullptr;  // one for each column
};

// A is [rows, depth], B [depth, columns], C [rows, columns].
struct SmallShape {
  size_t rows;
  size_t columns;
  size_t depth;
};

HWY_INLINE FloatVec LoadElements(const float* from) { return hn::LoadU(FloatTag(), from); }
HWY_INLINE FloatVec Broadcast(const float* from) { return hn::Set(FloatTag(), *from); }

// sum + a b. It is assembly, so that the result stays in the register of the sum: GCC picks
// variants of the instruction that overwrite a factor, and then copies registers in unrolled loops.
HWY_INLINE FloatVec AddProducts(FloatVec a, FloatVec b, FloatVec sum) {
#if HWY_TARGET <= HWY_AVX2
  __asm__("vfmadd231ps %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
  return sum;
#else
  return hn::MulAdd(a, b, sum);
#endif
}

HWY_INLINE WordVec LoadElements(const uint32_t* from) { return hn::LoadU(WordTag(), from); }
HWY_INLINE WordVec Broadcast(const uint32_t* from) {
  uint32_t word;
  std::memcpy(&word, from, sizeof word);  // the memory holds values of other types
  return hn::Set(WordTag(), word);
}

#if HWY_TARGET <= HWY_AVX3
// Needs AVX512-BF16, which this target does not imply: the caller checks CurrentIsa(). It is
// assembly because Highway 1.0 has no function for it.
HWY_INLINE FloatVec AddProducts(WordVec a, WordVec b, FloatVec sum) {
  __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
  return sum;
}
#endif

// Walks along the depth of kRows rows of A. It holds one pointer for every three rows; an address
// adds 0, 1 or 2 strides to it, which an instruction can do itself. Pin keeps GCC from making a
// pointer for every row: there are not enough registers for that.
template <size_t kRows, typename Element>
class RowMajorCursor {
 public:
  explicit HWY_INLINE RowMajorCursor(RowMajor<Element> a) : stride_(a.stride) {
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
class TransposedCursor {
 public:
  explicit HWY_INLINE TransposedCursor(Transposed<Element> a) : at_(a.data), stride_(a.stride) {}
  HWY_INLINE const Element* At(size_t row) const { return at_ + row; }
  HWY_INLINE void Next() { at_ += stride_; }
  HWY_INLINE void Pin() { __asm__("" : "+r"(at_)); }

 private:
  const Element* at_;
  size_t stride_;
};

template <size_t kRows, typename Element>
HWY_INLINE RowMajorCursor<kRows, Element> MakeCursor(RowMajor<Element> a) {
  return RowMajorCursor<kRows, Element>(a);
}
template <size_t kRows, typename Element>
HWY_INLINE TransposedCursor<kRows, Element> MakeCursor(Transposed<Element> a) {
  return TransposedCursor<kRows, Element>(a);
}

// A without its first `rows` rows.
template <typename Element>
HWY_INLINE RowMajor<Element> SkipRows(RowMajor<Element> a, size_t rows) {
  return {a.data + rows * a.stride, a.stride};
}
template <typename Element>
HWY_INLINE Transposed<Element> SkipRows(Transposed<Element> a, size_t rows) {
  return {a.data + rows, a.stride};
}

// kRows x (kVectors * lanes) of C in registers. Its loops must be unrolled, or the array would live
// on the stack.
template <size_t kRows, size_t kVectors>
struct RegisterTile {
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

  // Adds column k of A times row k of B, where the cursor is and `b` points.
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

// A product calls its hook's Step() once for every kStepDepth elements of the depth. A hook spreads
// other work, such as prefetches for the next product, over this one.
inline constexpr size_t kStepDepth = 4;
struct NoHook {
  HWY_INLINE void Step() {}
};

// Adds the product over the whole depth to a register tile. Unrolled, because a core that runs two
// hyperthreads decodes fewer instructions than it could multiply.
template <size_t kRows, size_t kVectors, template <typename> class A, typename Element,
          typename StepHook>
HWY_INLINE void AddProduct(size_t depth, A<Element> a, Rows<Element> b, StepHook& hook,
                           RegisterTile<kRows, kVectors>& tile) {
  auto cursor = MakeCursor<kRows>(a);
  const Element* row = b.data;
  for (size_t k = depth / kStepDepth; k > 0; --k) {
    cursor.Pin();
    hook.Step();
    TANDEM_UNROLL(4)
    for (size_t u = 0; u < kStepDepth; ++u) {
      tile.Add(cursor, row);
      cursor.Next();
      row += b.stride;
    }
  }
  for (size_t k = depth % kStepDepth; k > 0; --k) {
    tile.Add(cursor, row);
    cursor.Next();
    row += b.stride;
  }
}

// Computes kRows x (kVectors * lanes) of C.
template <size_t kRows, size_t kVectors, template <typename> class A, typename Element,
          typename StepHook>
HWY_INLINE void ProductTile(size_t depth, A<Element> a, Rows<Element> b, Output c, StepHook& hook) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  RegisterTile<kRows, kVectors> tile;
  if (c.add) {
    tile.Fill([d, c, lanes](size_t r, size_t v)
                  HWY_ATTR { return hn::LoadU(d, c.data + r * c.stride + v * lanes); });
  } else if (c.bias) {
    tile.Fill([d, c, lanes](size_t, size_t v)
                  HWY_ATTR { return hn::LoadU(d, c.bias + v * lanes); });
  } else {
    tile.Fill([d](size_t, size_t) HWY_ATTR { return hn::Zero(d); });
  }
  AddProduct(depth, a, b, hook, tile);
  tile.Store(c);
}

// Computes kRows rows of C. It is not inlined: callers choose between all numbers of rows, and
// would contain a copy of each.
template <size_t kRows, template <typename> class A, typename Element>
HWY_NOINLINE void ProductRows(size_t columns, size_t depth, A<Element> a, Rows<Element> b,
                              Output c) {
  const size_t lanes = hn::Lanes(FloatTag());
  NoHook no_hook;
  size_t n = 0;
  const auto tile = [&]<size_t kVectors>() HWY_ATTR {
    ProductTile<kRows, kVectors, A, Element>(
        depth, a, {b.data + n, b.stride},
        {c.data + n, c.stride, c.add, c.bias ? c.bias + n : nullptr}, no_hook);
    n += kVectors * lanes;
  };
  while (n + 2 * lanes <= columns) tile.template operator()<2>();
  if (n < columns) tile.template operator()<1>();
}

// A register tile of so many rows of two vectors fills the registers, of which there are 32 from
// AVX-512 on, else 16.
#if HWY_TARGET <= HWY_AVX3
inline constexpr size_t kProductRows = 12;
#else
inline constexpr size_t kProductRows = 6;
#endif

// Computes shape.rows rows of C, at most kRows.
template <size_t kRows, template <typename> class A, typename Element>
HWY_INLINE void ProductOfRows(SmallShape shape, A<Element> a, Rows<Element> b, Output c) {
  if constexpr (kRows > 0) {
    if (shape.rows == kRows) {
      ProductRows<kRows, A, Element>(shape.columns, shape.depth, a, b, c);
    } else {
      ProductOfRows<kRows - 1, A, Element>(shape, a, b, c);
    }
  }
}

// Computes C; the depth counts elements.
template <template <typename> class A, typename Element>
HWY_INLINE void SmallProduct(SmallShape shape, A<Element> a, Rows<Element> b, Output c) {
  for (size_t m = 0; m < shape.rows; m += kProductRows) {
    ProductOfRows<kProductRows, A, Element>(
        {std::min(kProductRows, shape.rows - m), shape.columns, shape.depth}, SkipRows(a, m), b,
        {c.data + m * c.stride, c.stride, c.add, c.bias});
  }
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
