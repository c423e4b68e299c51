#include "tune/schedule/halving.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

namespace tandem::tune {
namespace {

// Does all work; a trial's value is that of `value`. Returns the trials of each round as they came.
std::vector<Work> DoAll(const std::vector<Bracket>& brackets,
                        const std::function<std::optional<double>(const Work&)>& value,
                        std::vector<RungResult>* results) {
  std::vector<Work> done;
  while (const std::optional<Work> next = NextWork(brackets, *results)) {
    done.push_back(*next);
    results->push_back({next->trial, next->round, value(*next)});
    EXPECT_LT(done.size(), 1000U);
  }
  return done;
}

TEST(Halving, TheBestThirdGoesOn) {
  std::vector<RungResult> results;
  const std::vector<Bracket> brackets = {MakeBracket(9, 3, 3), MakeBracket(3, 2, 3)};
  const auto done = DoAll(
      brackets, [](const Work& work) { return work.trial % 5; }, &results);
  // Trials 1 to 9 have 1 2 3 4 0 1 2 3 4: 4 and 9 go on, and of 3 and 8 the first one.
  const std::vector<Work> after_nine(done.begin() + 9, done.begin() + 13);
  EXPECT_EQ(after_nine, (std::vector<Work>{{3, 0, 1}, {4, 0, 1}, {9, 0, 1}, {4, 0, 2}}));
  // Trials 10 to 12 have 0 1 2.
  const std::vector<Work> rest(done.begin() + 13, done.end());
  EXPECT_EQ(rest, (std::vector<Work>{{10, 1, 0}, {11, 1, 0}, {12, 1, 0}, {12, 1, 1}}));
  EXPECT_EQ(Finalists(brackets, results), (std::vector<int64_t>{4, 12}));
  EXPECT_EQ(LeftTrials(brackets, results), (std::vector<int64_t>{1, 2, 3, 5, 6, 7, 8, 9, 10, 11}));
}

TEST(Halving, EveryRoundComparesItsOwnValues) {
  std::vector<RungResult> results;
  const std::vector<Bracket> brackets = {MakeBracket(9, 3, 3)};
  // Who was best at first is worst later.
  DoAll(
      brackets,
      [](const Work& work) {
        return work.round == 0 ? static_cast<double>(work.trial) : -static_cast<double>(work.trial);
      },
      &results);
  EXPECT_EQ(Finalists(brackets, results), (std::vector<int64_t>{7}));
}

TEST(Halving, TrialsThatCannotBeTrainedNeverGoOn) {
  std::vector<RungResult> results;
  const std::vector<Bracket> brackets = {MakeBracket(9, 3, 3)};
  const auto only_two = [](const Work& work) {
    return work.trial == 8 || work.trial == 2 ? std::optional<double>(work.trial) : std::nullopt;
  };
  const auto done = DoAll(brackets, only_two, &results);
  EXPECT_EQ(done.size(), 9U + 2U + 1U);
  EXPECT_EQ(Finalists(brackets, results), (std::vector<int64_t>{8}));
  results.clear();
  DoAll(
      brackets, [](const Work&) { return std::nullopt; }, &results);
  EXPECT_TRUE(Finalists(brackets, results).empty());
}

// Several processes may write results in another order than one.
TEST(Halving, WhatComesNextDoesNotDependOnTheOrderOfResults) {
  std::vector<RungResult> results;
  const std::vector<Bracket> brackets = HyperbandBrackets(3, 100);
  const auto value = [](const Work& work) {
    return static_cast<double>((work.trial * 7 + static_cast<int64_t>(work.round) * 3) % 11);
  };
  const std::vector<Work> done = DoAll(brackets, value, &results);
  for (size_t i = 0; i < done.size(); ++i) {
    std::vector<RungResult> so_far(results.begin(), results.begin() + static_cast<long>(i));
    std::reverse(so_far.begin(), so_far.end());
    EXPECT_EQ(NextWork(brackets, so_far), done[i]);
  }
}

TEST(Halving, NoTrialHasLeftBeforeItsRoundIsComplete) {
  const std::vector<Bracket> brackets = {MakeBracket(3, 2, 3)};
  std::vector<RungResult> results = {{1, 0, 0.1}, {2, 0, 0.2}};
  EXPECT_TRUE(LeftTrials(brackets, results).empty());
  results.push_back({3, 0, 0.15});
  EXPECT_EQ(LeftTrials(brackets, results), (std::vector<int64_t>{1, 3}));
  EXPECT_TRUE(Finalists(brackets, results).empty());
}

}  // namespace
}  // namespace tandem::tune
