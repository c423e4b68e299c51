#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace tandem {
namespace {

// Known answers from the generator's authors (Random123, kat_vectors).
TEST(Philox, MatchesTheAuthorsKnownAnswers) {
  EXPECT_EQ(Philox4x32({0, 0, 0, 0}, {0, 0}),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(RandomStream, SeekContinuesWhereAnotherStreamStopped) {
  RandomStream whole({.seed = 7, .purpose = "shuffle", .epoch = 3});
  for (int i = 0; i < 11; ++i) whole.Next();
  RandomStream resumed({.seed = 7, .purpose = "shuffle", .epoch = 3});
  resumed.Seek(whole.position());
  for (int i = 0; i < 9; ++i) EXPECT_EQ(resumed.Next(), whole.Next());
}

TEST(RandomStream, EveryPartOfTheNameMatters) {
  const uint64_t base = RandomStream({.seed = 1, .purpose = "a", .epoch = 1, .rank = 1}).Next();
  EXPECT_NE(base, RandomStream({.seed = 2, .purpose = "a", .epoch = 1, .rank = 1}).Next());
  EXPECT_NE(base, RandomStream({.seed = 1, .purpose = "b", .epoch = 1, .rank = 1}).Next());
  EXPECT_NE(base, RandomStream({.seed = 1, .purpose = "a", .epoch = 2, .rank = 1}).Next());
  EXPECT_NE(base, RandomStream({.seed = 1, .purpose = "a", .epoch = 1, .rank = 2}).Next());
}

TEST(RandomStream, BelowIsUniform) {
  RandomStream stream({.seed = 5, .purpose = "test"});
  constexpr int kBins = 10;
  constexpr int kDraws = 100000;
  std::vector<int> counts(kBins);
  for (int i = 0; i < kDraws; ++i) ++counts[stream.Below(kBins)];
  double chi_square = 0;
  for (const int count : counts) {
    const double expected = static_cast<double>(kDraws) / kBins;
    chi_square += (count - expected) * (count - expected) / expected;
  }
  EXPECT_LT(chi_square, 27.9);  // 0.999 quantile at 9 degrees of freedom
}

TEST(RandomStream, ShuffleIsAPermutationThatMoves) {
  std::vector<int> values(100);
  std::iota(values.begin(), values.end(), 0);
  const std::vector<int> original = values;
  RandomStream stream({.seed = 5, .purpose = "test"});
  stream.Shuffle<int>(values);
  EXPECT_NE(values, original);
  std::sort(values.begin(), values.end());
  EXPECT_EQ(values, original);
}

}  // namespace
}  // namespace tandem
