// The normalisation of one row of floats and its gradient. Included once per target by the files
// that need them.
#if defined(TANDEM_TENSOR_NORM_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_NORM_ROWS_INL_H_
#undef TANDEM_TENSOR_NORM_ROWS_INL_H_
#else
#define TANDEM_TENSOR_NORM_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstddef>

#include "tensor/kernels/cpu/rows/norm_rows.h"
#include "tensor/kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

struct StatisticsOfRow {
  float mean;
  float inverse_deviation;
};

template <typename A>
HWY_INLINE void LoadRow(const A* from, size_t width, float* row) {
  const FloatTag d;
  for (size_t c = 0; c < width; c += hn::Lanes(d)) hn::StoreU(LoadFloat(d, from + c), d, row + c);
}

HWY_INLINE StatisticsOfRow StatisticsOf(const float* row, size_t width, const RowNorm& norm) {
  const FloatTag d;
  const float count = static_cast<float>(width);
  float mean = 0;
  if (norm.centred) {
    auto total = hn::Zero(d);
    for (size_t c = 0; c < width; c += hn::Lanes(d)) total = hn::Add(total, hn::LoadU(d, row + c));
    mean = hn::GetLane(hn::SumOfLanes(d, total)) / count;
  }
  auto squares = hn::Zero(d);
  for (size_t c = 0; c < width; c += hn::Lanes(d)) {
    const auto v = hn::Sub(hn::LoadU(d, row + c), hn::Set(d, mean));
    squares = hn::MulAdd(v, v, squares);
  }
  const float variance = hn::GetLane(hn::SumOfLanes(d, squares)) / count;
  return {mean, 1.0F / std::sqrt(variance + norm.epsilon)};
}

// The normalised value, before gamma and beta.
HWY_INLINE FloatVec Normalized(FloatVec x, const StatisticsOfRow& statistics) {
  const FloatTag d;
  return hn::Mul(hn::Sub(x, hn::Set(d, statistics.mean)), hn::Set(d, statistics.inverse_deviation));
}

// Channels c .. c + lanes of the normalised row.
HWY_INLINE FloatVec NormValue(FloatVec x, const StatisticsOfRow& statistics, const RowNorm& norm,
                              size_t c) {
  const FloatTag d;
  const auto v = hn::Mul(Normalized(x, statistics), hn::LoadU(d, norm.gamma + c));
  return norm.beta ? hn::Add(v, hn::LoadU(d, norm.beta + c)) : v;
}

HWY_INLINE void AddToSums(FloatVec v, float* sums) {
  const FloatTag d;
  hn::StoreU(hn::Add(hn::LoadU(d, sums), v), d, sums);
}

// Replaces `grad`, the gradient of the normalised row, by that of the row itself, and adds to the
// gradients of gamma and beta [width] (null: not wanted).
HWY_INLINE void NormGradientOfRow(const float* row, const StatisticsOfRow& statistics,
                                  const RowNorm& norm, size_t width, float* grad, float* grad_gamma,
                                  float* grad_beta) {
  const FloatTag d;
  auto sum = hn::Zero(d), product = hn::Zero(d);
  for (size_t c = 0; c < width; c += hn::Lanes(d)) {
    const auto g = hn::LoadU(d, grad + c);
    const auto x = Normalized(hn::LoadU(d, row + c), statistics);
    if (grad_beta) AddToSums(g, grad_beta + c);
    if (grad_gamma) AddToSums(hn::Mul(g, x), grad_gamma + c);
    const auto scaled = hn::Mul(g, hn::LoadU(d, norm.gamma + c));
    sum = hn::Add(sum, scaled);
    product = hn::MulAdd(scaled, x, product);
  }
  const auto share = hn::Set(d, 1.0F / static_cast<float>(width));
  const auto mean = norm.centred ? hn::Mul(hn::SumOfLanes(d, sum), share) : hn::Zero(d);
  const auto slope = hn::Mul(hn::SumOfLanes(d, product), share);
  const auto inverse = hn::Set(d, statistics.inverse_deviation);
  for (size_t c = 0; c < width; c += hn::Lanes(d)) {
    const auto scaled = hn::Mul(hn::LoadU(d, grad + c), hn::LoadU(d, norm.gamma + c));
    const auto x = Normalized(hn::LoadU(d, row + c), statistics);
    hn::StoreU(hn::Mul(hn::NegMulAdd(x, slope, hn::Sub(scaled, mean)), inverse), d, grad + c);
  }
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
