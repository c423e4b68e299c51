// Says how many draws of an epoch each source has, and in which order.
#include "sampling/mixing/mixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <vector>

namespace tandem::sampling {
namespace {

using testing::ElementsAre;

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Shares, AreWeightsOverTheirSum) {
  EXPECT_THAT(SharesOf(std::vector<double>{3, 1}), ElementsAre(0.75, 0.25));
  EXPECT_THAT(SharesOf(std::vector<double>{0, 5}), ElementsAre(0, 1));
  for (const std::vector<double>& wrong :
       {std::vector<double>{0, 0}, {1, -1}, {1, kNotANumber}, {1, kInfinity}, {}}) {
    EXPECT_THROW(SharesOf(wrong), std::invalid_argument);
  }
}

TEST(EpochQuotas, FollowTheSharesOverAllEpochs) {
  const std::vector<std::vector<double>> weights = {
      {3, 1}, {1, 1, 1}, {0.1, 0.2, 0.7}, {1, 0, 1e-3}, {5, 4, 3, 2, 1}};
  for (const auto& of_case : weights) {
    const std::vector<double> shares = SharesOf(of_case);
    for (const uint64_t draws : {1, 2, 7, 12, 1000}) {
      std::vector<uint64_t> taken(shares.size(), 0);
      for (uint64_t epoch = 1; epoch <= 200; ++epoch) {
        const std::vector<uint64_t> quotas = EpochQuotas(shares, taken, draws);
        ASSERT_EQ(std::accumulate(quotas.begin(), quotas.end(), uint64_t{0}), draws);
        for (size_t s = 0; s < shares.size(); ++s) {
          taken[s] += quotas[s];
          const double due = shares[s] * static_cast<double>(draws * epoch);
          ASSERT_NEAR(static_cast<double>(taken[s]), due, draws < 5 ? 2 : 1 + 1e-6);
          if (shares[s] == 0) {
            ASSERT_EQ(taken[s], 0);
          }
        }
      }
    }
  }
}

std::vector<size_t> AllTurns(const std::vector<uint64_t>& quotas) {
  Turns turns(quotas);
  std::vector<size_t> all;
  const std::vector<bool> none(quotas.size());
  while (const auto next = turns.Next(none)) {
    all.push_back(*next);
    turns.Take(*next);
  }
  return all;
}

TEST(Turns, AreSpreadEvenly) {
  EXPECT_THAT(AllTurns({2, 2}), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(AllTurns({3, 1}), ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(AllTurns({0, 2, 1}), ElementsAre(1, 2, 1));
  EXPECT_THAT(AllTurns({0, 0}), ElementsAre());
  const std::vector<uint64_t> quotas = {700, 200, 100};
  const std::vector<size_t> turns = AllTurns(quotas);
  ASSERT_EQ(turns.size(), 1000);
  std::vector<double> had(3, 0);
  for (size_t i = 0; i < turns.size(); ++i) {
    ++had[turns[i]];
    for (size_t s = 0; s < 3; ++s) {
      ASSERT_NEAR(had[s], static_cast<double>(quotas[s] * (i + 1)) / 1000, 1.01) << i;
    }
  }
}

TEST(Turns, OfASkippedSourceGoToOthers) {
  Turns turns({1, 2});
  EXPECT_EQ(turns.Next({false, false}), 1);
  EXPECT_EQ(turns.Next({false, true}), 0);
  EXPECT_EQ(turns.Next({true, true}), std::nullopt);
}

}  // namespace
}  // namespace tandem::sampling
