#include "tensor/dropout.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tandem::tensor {
namespace {

// The share of dropped channels over rows, channels and sites must be the rate, within five
// standard deviations of a binomial.
TEST(Dropout, DropsTheShareThatWasAskedFor) {
  for (const double rate : {0.1, 0.5}) {
    int64_t dropped = 0, count = 0;
    for (uint32_t site = 0; site < 8; ++site) {
      const uint64_t key = SiteKey({.rate = rate, .seed = 3, .step = 9, .site = site});
      for (uint64_t row = 0; row < 64; ++row) {
        const uint64_t row_key = RowKey(key, PositionKey(17, row));
        for (uint32_t channel = 0; channel < 384; ++channel, ++count) {
          dropped += ChannelBits(row_key, channel) < KeepThreshold(rate);
        }
      }
    }
    const auto n = static_cast<double>(count);
    EXPECT_NEAR(static_cast<double>(dropped), rate * n, 5 * std::sqrt(n * rate * (1 - rate)));
  }
}

// A mask's mean is 1, whatever the rate was rounded to; the smallest and largest rates leave
// neither everything nor nothing.
TEST(Dropout, ScalesByTheRateThatItDrops) {
  for (const double rate : {1e-9, 0.1, 0.25, 1.0 / 3, 0.5, 0.9, 1 - 1e-9}) {
    const double kept = (65536.0 - KeepThreshold(rate)) / 65536.0;
    EXPECT_GT(kept, 0) << rate;
    EXPECT_LT(kept, 1) << rate;
    EXPECT_NEAR(1 - kept, rate, 1.0 / 65536) << rate;
    EXPECT_NEAR(kept * double{KeepScale(rate)}, 1, 1e-7) << rate;
  }
  EXPECT_EQ(KeepThreshold(0), 0U);
  EXPECT_EQ(KeepScale(0), 1.0F);
}

// Neighbouring channels, channels that share a word, rows and steps must be independent: agreement
// of two masks at rate 1/2 is a fair coin.
TEST(Dropout, NeighboursAreIndependent) {
  const auto bit = [](uint64_t step, uint64_t row, uint32_t channel) {
    const uint64_t key = SiteKey({.rate = 0.5, .seed = 1, .step = step, .site = 2});
    return ChannelBits(RowKey(key, PositionKey(5, row)), channel) < KeepThreshold(0.5);
  };
  int64_t next_channel = 0, other_half = 0, next_row = 0, next_step = 0;
  constexpr int64_t kCount = 40000;
  for (int64_t i = 0; i < kCount; ++i) {
    const auto row = static_cast<uint64_t>(i / 400);
    const auto channel = static_cast<uint32_t>(i % 400);
    const bool here = bit(7, row, channel);
    next_channel += here == bit(7, row, channel + 1);
    other_half += here == bit(7, row, channel ^ 16);
    next_row += here == bit(7, row + 1, channel);
    next_step += here == bit(8, row, channel);
  }
  const double deviation = std::sqrt(kCount * 0.25);
  for (const int64_t agree : {next_channel, other_half, next_row, next_step}) {
    EXPECT_NEAR(static_cast<double>(agree), kCount / 2.0, 5 * deviation);
  }
}

}  // namespace
}  // namespace tandem::tensor
