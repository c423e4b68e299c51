// What is still to be done to a block of a product on AMX whose sums lie in memory, rows of 32
// floats: row by row, while the next block is multiplied. Included once per target by
// tiled_products.cc.
#if defined(TANDEM_TENSOR_LATE_RESULTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_LATE_RESULTS_INL_H_
#undef TANDEM_TENSOR_LATE_RESULTS_INL_H_
#else
#define TANDEM_TENSOR_LATE_RESULTS_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>

#include "tensor/kernels/cpu/gelu-inl.h"
#include "tensor/kernels/cpu/tile_product-inl.h"
#include "tensor/kernels/cpu/tiled_products.h"
#include "tensor/kernels/cpu/vector-inl.h"

#if HWY_TARGET <= HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

// Each takes blocks in turn: Begin with a block's first row and column, Row for every row of it
// from the first on, End behind the last.
class LateRounding {
 public:
  explicit LateRounding(const Bf16Result& result) : result_(result) {}
  HWY_INLINE void Begin(size_t row, size_t column) {
    out_ = result_.out + row * result_.stride + column;
  }
  HWY_INLINE void Row(const float* sums) {
    const FloatTag d;
    StoreRoundedPair(hn::Load(d, sums), hn::Load(d, sums + kTileSide), out_);
    out_ += result_.stride;
  }
  HWY_INLINE void End() {}

 private:
  Bf16Result result_;
  Bf16* out_ = nullptr;
};

class LateGelu {
 public:
  LateGelu(const GeluResult& result, size_t stride) : result_(result), stride_(stride) {}
  HWY_INLINE void Begin(size_t row, size_t column) { at_ = row * stride_ + column; }
  HWY_INLINE void Row(const float* sums) {
    const FloatTag d;
    // Of what is kept, as the backward pass will.
    const auto low = RoundedToBf16(hn::Load(d, sums));
    const auto high = RoundedToBf16(hn::Load(d, sums + kTileSide));
    if (result_.before) StoreRoundedPair(low, high, result_.before + at_);
    StoreRoundedPair(Gelu<true>(low).Value(), Gelu<true>(high).Value(), result_.activated + at_);
    at_ += stride_;
  }
  HWY_INLINE void End() {}

 private:
  GeluResult result_;
  size_t stride_;
  size_t at_ = 0;
};

class LateGeluGradient {
 public:
  LateGeluGradient(const GeluGradientResult& result, size_t stride)
      : result_(result), stride_(stride) {}
  HWY_INLINE void Begin(size_t row, size_t column) {
    at_ = row * stride_ + column;
    column_ = column;
    low_sums_ = high_sums_ = hn::Zero(FloatTag());
  }
  HWY_INLINE void Row(const float* sums) {
    const FloatTag d;
    hwy::Prefetch(result_.before + at_ + kAhead);
    const auto half = [&](size_t c) HWY_ATTR {
      const Gelu<true> gelu(LoadFloat(d, result_.before + at_ + c));
      StoreRounded(gelu.Value(), result_.activated + at_ + c);
      const auto grad = hn::Mul(hn::Load(d, sums + c), gelu.Slope());
      StoreRounded(grad, result_.grad + at_ + c);
      return grad;
    };
    low_sums_ = hn::Add(low_sums_, half(0));
    high_sums_ = hn::Add(high_sums_, half(kTileSide));
    at_ += stride_;
  }
  HWY_INLINE void End() {
    if (result_.column_sums == nullptr) return;
    AddTo(low_sums_, result_.column_sums + column_);
    AddTo(high_sums_, result_.column_sums + column_ + kTileSide);
  }

 private:
  static HWY_INLINE void AddTo(FloatVec v, float* sums) {
    hn::StoreU(hn::Add(v, hn::LoadU(FloatTag(), sums)), FloatTag(), sums);
  }

  static constexpr size_t kAhead = 4 * kTiledUnit;  // columns

  GeluGradientResult result_;
  size_t stride_;
  size_t at_ = 0;
  size_t column_ = 0;
  FloatVec low_sums_, high_sums_;
};

// Results that lie where they belong once they are stored.
struct NothingLate {
  HWY_INLINE void Begin(size_t, size_t) {}
  HWY_INLINE void Row(const float*) {}
  HWY_INLINE void End() {}
};

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET <= HWY_AVX3
#endif  // per-target include guard
