// Epilogues of products on AMX, and the hook that runs them beside a product: how the sums of a
// block, rows of 32 floats in memory, become results. tiled_products.cc runs an epilogue row by row
// while the next block is multiplied. Included once per target by tiled_products.cc.
#if defined(TANDEM_TENSOR_EPILOGUES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_EPILOGUES_INL_H_
#undef TANDEM_TENSOR_EPILOGUES_INL_H_
#else
#define TANDEM_TENSOR_EPILOGUES_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

#include "tensor/kernels/cpu/rows/gelu-inl.h"
#include "tensor/kernels/cpu/products/tile_product-inl.h"
#include "tensor/kernels/cpu/products/tiled_products.h"
#include "tensor/kernels/cpu/vector-inl.h"

#if HWY_TARGET <= HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

// Every epilogue has these functions. Each block calls Begin(row, column) with the position of its
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

// Adds the sums to what is there.
class AddingEpilogue {
 public:
  explicit AddingEpilogue(const Bf16Result& result) : result_(result) {}
  HWY_INLINE void Begin(size_t row, size_t column) {
    out_ = result_.out + row * result_.stride + column;
  }
  HWY_INLINE void Row(const float* sums) {
    const FloatTag d;
    hwy::Prefetch(out_ + kTiledUnit);  // of the next block
    StoreRoundedPair(hn::Add(hn::Load(d, sums), LoadFloat(d, out_)),
                     hn::Add(hn::Load(d, sums + kTileSide), LoadFloat(d, out_ + kTileSide)), out_);
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

// Serves products whose sums are the results: the tiles are stored to their place.
struct NoEpilogue {
  HWY_INLINE void Begin(size_t, size_t) {}
  HWY_INLINE void Row(const float*) {}
  HWY_INLINE void End() {}
};

// Prefetches lines of memory, `stride` bytes apart, to the second-level cache, a few in each step.
struct LinePrefetch {
  const void* next = nullptr;
  size_t stride = 0;
  size_t lines = 0;  // left to prefetch
  size_t lines_per_step = 0;

  HWY_INLINE void Step() {
    for (size_t i = std::min(lines_per_step, lines); i > 0; --i, --lines) {
      __builtin_prefetch(next, 0, 2);
      next = static_cast<const std::byte*>(next) + stride;
    }
  }
};

// Sums of a block: `rows` rows, `stride` floats apart, of results that begin at (row, column).
struct BlockSums {
  size_t row;
  size_t column;
  size_t rows;
  const float* sums;
  size_t stride;
};

// The hook of a block's product. In each step it prefetches a part of the next panel and runs the
// epilogue for some rows of the block before.
template <typename Epilogue>
class EpilogueHook {
 public:
  explicit EpilogueHook(const Epilogue& epilogue) : epilogue_(epilogue) {}

  HWY_INLINE void Step() {
    prefetch.Step();
    RunRows(rows_per_step_);
  }
  // Spreads the epilogue of a block over the `steps` steps of the next product.
  HWY_INLINE void SpreadOver(size_t steps) { rows_per_step_ = (kTiledUnit + steps - 1) / steps; }
  // Finishes the epilogue of the block before. Further steps run that of `block`.
  HWY_INLINE void Begin(const BlockSums& block) {
    RunRows(kTiledUnit);
    sums_ = block.sums;
    stride_ = block.stride;
    rows_left_ = block.rows;
    epilogue_.Begin(block.row, block.column);
  }
  HWY_INLINE void Finish() { RunRows(kTiledUnit); }

  LinePrefetch prefetch;

 private:
  HWY_INLINE void RunRows(size_t rows) {
    if (rows_left_ == 0) return;
    const size_t count = std::min(rows, rows_left_);
    for (size_t r = 0; r < count; ++r, sums_ += stride_) epilogue_.Row(sums_);
    rows_left_ -= count;
    if (rows_left_ == 0) epilogue_.End();
  }

  Epilogue epilogue_;
  size_t rows_per_step_ = kTiledUnit;
  const float* sums_ = nullptr;
  size_t stride_ = 0;
  size_t rows_left_ = 0;
};

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET <= HWY_AVX3
#endif  // per-target include guard
