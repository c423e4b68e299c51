#include "index/graph/row_products.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "index/graph/row_products.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tandem::index::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

float DotFloatsT(const float* a, const float* b, size_t count) {
  const hn::CappedTag<float, 16> d;
  const size_t lanes = hn::Lanes(d);
  const auto product = [&](size_t at, auto sum) HWY_ATTR {
    return hn::MulAdd(hn::LoadU(d, a + at), hn::LoadU(d, b + at), sum);
  };
  // Four sums, so that an addition need not wait for the one before.
  auto sum0 = hn::Zero(d), sum1 = hn::Zero(d), sum2 = hn::Zero(d), sum3 = hn::Zero(d);
  size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    sum0 = product(i, sum0);
    sum1 = product(i + lanes, sum1);
    sum2 = product(i + 2 * lanes, sum2);
    sum3 = product(i + 3 * lanes, sum3);
  }
  for (; i + lanes <= count; i += lanes) sum0 = product(i, sum0);
  const auto sums = hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3));
  float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

int32_t DotInt8T(const int8_t* a, const int8_t* b, size_t count) {
  const hn::CappedTag<int16_t, 32> d16;
  const hn::Rebind<int8_t, decltype(d16)> d8;
  const hn::Repartition<int32_t, decltype(d16)> d32;
  const size_t lanes = hn::Lanes(d16);
  // The sum of two neighbouring products of 16 bits each fits into 32.
  const auto product = [&](size_t at, auto sum, auto& other) HWY_ATTR {
    return hn::ReorderWidenMulAccumulate(d32, hn::PromoteTo(d16, hn::LoadU(d8, a + at)),
                                         hn::PromoteTo(d16, hn::LoadU(d8, b + at)), sum, other);
  };
  auto sum0 = hn::Zero(d32), sum1 = hn::Zero(d32), other = hn::Zero(d32);
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    sum0 = product(i, sum0, other);
    sum1 = product(i + lanes, sum1, other);
  }
  for (; i + lanes <= count; i += lanes) sum0 = product(i, sum0, other);
  const auto sums = hn::Add(hn::Add(sum0, sum1), other);
  int32_t sum = hn::GetLane(hn::SumOfLanes(d32, sums));
  for (; i < count; ++i) sum += int32_t{a[i]} * b[i];
  return sum;
}

}  // namespace tandem::index::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::index {

HWY_EXPORT(DotFloatsT);
HWY_EXPORT(DotInt8T);

float DotProduct(const float* a, const float* b, size_t count) {
  return HWY_DYNAMIC_DISPATCH(DotFloatsT)(a, b, count);
}
int32_t DotProduct(const int8_t* a, const int8_t* b, size_t count) {
  return HWY_DYNAMIC_DISPATCH(DotInt8T)(a, b, count);
}

float QuantizeRow(const float* row, size_t width, int8_t* codes) {
  float largest = 0;
  for (size_t i = 0; i < width; ++i) largest = std::max(largest, std::abs(row[i]));
  if (!(largest > 0) || !std::isfinite(largest)) {
    std::fill_n(codes, width, int8_t{0});
    return 0;
  }
  const float scale = largest / 127;
  // Adding 1.5 * 2^23 leaves no bits for the fraction: it rounds to nearest without a call.
  constexpr float kRound = 12582912.0F;
  for (size_t i = 0; i < width; ++i) {
    codes[i] = static_cast<int8_t>(std::clamp(row[i] / scale, -127.0F, 127.0F) + kRound - kRound);
  }
  return scale;
}

}  // namespace tandem::index
#endif  // HWY_ONCE
