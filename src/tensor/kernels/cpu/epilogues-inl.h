// Epilogues of products on AMX: how the sums of a block, rows of 32 floats in memory, become
// results. tiled_products.cc runs an epilogue row by row while the next block is multiplied.
// Included once per target by tiled_products.cc.
#if defined(TANDEM_TENSOR_EPILOGUES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_EPILOGUES_INL_H_
#undef TANDEM_TENSOR_EPILOGUES_INL_H_
#else
#define TANDEM_TENSOR_EPILOGUES_INL_H_
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

// Every epilogue has these functions. For each block: Begin(row, column) with the position of its
// first sum, Row(sums) for every row in order, then End().
class RoundingEpilogue {
 public:
  explicit RoundingEpilogue(const Bf16Result& result) : result_(result) {}
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

class GeluEpilogue {
 public:
  GeluEpilogue(const GeluResult& result, size_t stride) : result_(result), stride_(stride) {}
  HWY_INLINE void Begin(size_t row, size_t column) { at_ = row * stride_ + column; }
  HWY_INLINE void Row(const float* sums) {
    const FloatTag d;
    // GELU is taken of the rounded product, because the backward pass reads that.
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

class GeluGradientEpilogue {
 public:
  GeluGradientEpilogue(const GeluGradientResult& result, size_t stride)
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

// For products whose sums are the results: the tiles are stored to their place.
struct NoEpilogue {
  HWY_INLINE void Begin(size_t, size_t) {}
  HWY_INLINE void Row(const float*) {}
  HWY_INLINE void End() {}
};

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET <= HWY_AVX3
#endif  // per-target include guard
