// What random_pruning, static_pruning and infobatch promise besides the contract of all samplers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "sampling/masks.h"
#include "sampling/pruning/keep.h"
#include "sampling/sampling_worlds.h"

namespace tandem::sampling {
namespace {

using DrawCounts = std::map<std::pair<uint32_t, uint32_t>, int>;

DrawCounts PairsOfPass(Sampler& sampler, uint64_t pass) {
  DrawCounts drawn;
  for (const Batch& batch : TakePass(sampler, pass)) {
    for (size_t row = 0; row < batch.rows(); ++row) {
      ++drawn[{batch.queries[row], batch.documents[row]}];
    }
  }
  return drawn;
}

TEST(Pruning, EveryKeptPairOncePerPassTheSameInAll) {
  const Examples examples = SharedExamples(100);
  const size_t pairs = Pairs(examples, false).size();
  for (const SamplerInfo* info : {&kRandomPruning, &kStaticPruning}) {
    const auto sampler =
        MakeScored(*info, examples, {.batch = 16, .params = ParamsOf(*info, {{"keep", 0.4}})});
    const DrawCounts first = PairsOfPass(*sampler, 0);
    EXPECT_EQ(first.size(), static_cast<size_t>(0.4 * static_cast<double>(pairs)));
    for (const auto& [pair, times] : first) EXPECT_EQ(times, 1);
    EXPECT_EQ(first, PairsOfPass(*sampler, 1));
  }
}

TEST(RandomPruning, EveryPairIsAsLikely) {
  const Examples examples = PlainExamples(10, 2);
  std::vector<int> kept(20);
  for (uint64_t seed = 1; seed <= 4000; ++seed) {
    const auto sampler =
        kRandomPruning.make(examples, {.seed = seed, .batch = 64, .no_duplicates = false});
    const Batch batch = sampler->Next();
    ASSERT_EQ(batch.rows(), 5);
    for (const uint32_t document : batch.documents) ++kept[document];
  }
  EXPECT_LT(ChiSquare(kept), 63.2);  // beyond: one run of a million (19 degrees of freedom)
}

TEST(KeptCount, IsRoundedDown) {
  EXPECT_EQ(KeptCount(100, 0.29), 29);  // 0.29 * 100 is a little less than 29
  EXPECT_EQ(KeptCount(10, 0.29), 2);
  EXPECT_EQ(KeptCount(10, 0.09), 0);
  EXPECT_EQ(KeptCount(7, 1), 7);
}

TEST(BestPairs, HaveTheHighestScoresThenTheHighestSecondThenComeFirst) {
  using Kept = std::vector<bool>;
  const std::vector<float> scores = {0.5F, 0.9F, 0.5F, -1, 0.5F};
  EXPECT_EQ(BestPairs({scores}, 0), Kept({false, false, false, false, false}));
  EXPECT_EQ(BestPairs({scores}, 1), Kept({false, true, false, false, false}));
  EXPECT_EQ(BestPairs({scores}, 3), Kept({true, true, true, false, false}));
  EXPECT_EQ(BestPairs({scores}, 5), Kept({true, true, true, true, true}));
  const std::vector<float> second = {0.1F, 0, 0.1F, 1, 0.2F};
  EXPECT_EQ(BestPairs({scores, second}, 2), Kept({false, true, false, false, true}));
  EXPECT_EQ(BestPairs({scores, second}, 3), Kept({true, true, false, false, true}));
}

TEST(StaticPruning, KeepsTheBestOfAllQueriesTogether) {
  const Examples examples = PlainExamples(3, 4);
  // Query 0 has the best pair and the worst, query 1 none that is kept.
  const std::vector<float> cosines = {0.9F, 0.8F, -0.9F, 0.1F, 0.0F, 0.1F,
                                      0.2F, 0.3F, 0.5F,  0.5F, 0.5F, 0.4F};
  const auto kept = [&](double keep, const Settings& settings = {},
                        std::span<const float> consistencies = {}) {
    Settings all = settings;
    all.emplace_back("keep", keep);
    const auto sampler = kStaticPruning.make(examples, {.batch = 64,
                                                        .no_duplicates = false,
                                                        .params = ParamsOf(kStaticPruning, all),
                                                        .scores = {cosines, consistencies}});
    const Batch batch = sampler->Next();
    return std::set<uint32_t>(batch.documents.begin(), batch.documents.end());
  };
  EXPECT_EQ(kept(5.0 / 12), (std::set<uint32_t>{0, 1, 8, 9, 10}));
  EXPECT_EQ(kept(4.0 / 12), (std::set<uint32_t>{0, 1, 8, 9}));  // ties go to the first pair
  EXPECT_EQ(kept(1).size(), 12);
  std::vector<float> ranks(12, 1);
  ranks[0] = 0.5F;
  // All but pair 0 are first: the cosine decides.
  EXPECT_EQ(kept(3.0 / 12, {{"score", "consistency"}}, ranks), (std::set<uint32_t>{1, 8, 9}));
}

TEST(StaticPruning, QueriesComeInProportionToTheirKeptPairs) {
  const Examples examples = PlainExamples(4, 3);
  const std::vector<float> cosines = {1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0};
  const auto sampler = kStaticPruning.make(
      examples,
      {.batch = 2, .params = ParamsOf(kStaticPruning, {{"keep", 0.5}}), .scores = {cosines, {}}});
  EXPECT_EQ(sampler->QueriesIn(0), 6);
  std::vector<int> times(4);
  for (uint64_t pass = 0; pass < 5; ++pass) {
    for (const auto& [pair, count] : PairsOfPass(*sampler, pass)) times[pair.first] += count;
  }
  EXPECT_EQ(times, (std::vector<int>{15, 10, 5, 0}));
}

TEST(Pruning, WhatIsLeftOutIsKnownToMasksAndNeverAFurtherDocument) {
  const Examples examples = PlainExamples(6, 4);
  std::vector<float> cosines(24, 0);
  for (size_t q = 0; q < 6; ++q) cosines[4 * q] = cosines[4 * q + 1] = 1;
  const auto sampler =
      kStaticPruning.make(examples, {.batch = 6,
                                     .negatives = 3,
                                     .graded_own = true,
                                     .params = ParamsOf(kStaticPruning, {{"keep", 0.5}}),
                                     .scores = {cosines, {}}});
  for (int b = 0; b < 10; ++b) {
    const Batch batch = sampler->Next();
    for (const uint32_t document : batch.documents) EXPECT_LT(document % 4, 2);
  }
  const Batch pruned{.queries = {0, 1}, .documents = {0, 3}, .extra_starts = {2, 2, 2}};
  EXPECT_EQ(MakeMasks(examples, pruned, {}).negative, (std::vector<uint8_t>{0, 0, 1, 0}));
}

// This is what a processor computes whose products differ in the last digit.
TEST(StaticPruning, ACheckpointKnowsWhichPairsWereLeftOut) {
  const Examples examples = PlainExamples(6, 1);
  const std::vector<float> scores = {0.9F, 0.2F, 0.7F, 0.5F, 0.1F, 0.4999999F};
  std::vector<float> others = scores;
  others[5] = 0.5000001F;
  const auto make = [&](const SamplerInfo& info, const std::vector<float>& cosines) {
    return info.make(
        examples, {.batch = 2, .params = ParamsOf(info, {{"keep", 0.5}}), .scores = {cosines, {}}});
  };
  for (const SamplerInfo* info : {&kStaticPruning, &kDynamicPruning}) {
    const SamplerState state = make(*info, scores)->State();
    EXPECT_NO_THROW(make(*info, scores)->Restore(state));
    std::vector<float> same_order = scores;
    same_order[0] = 0.8F;
    EXPECT_NO_THROW(make(*info, same_order)->Restore(state));
    EXPECT_THROW(make(*info, others)->Restore(state), ModelError);
    SamplerState older = state;  // of a version that did not say
    older.values.erase("kept_pairs");
    EXPECT_NO_THROW(make(*info, others)->Restore(older));
  }
}

TEST(Pruning, RefusesToLeaveNothing) {
  const Examples examples = PlainExamples(3, 1);
  for (const SamplerInfo* info : {&kRandomPruning, &kStaticPruning, &kDynamicPruning}) {
    try {
      MakeScored(*info, examples, {.params = ParamsOf(*info, {{"keep", 0.3}})});
      FAIL() << info->name;
    } catch (const OrderProblem& problem) {
      EXPECT_EQ(problem.key(), "keep");
      EXPECT_STREQ(problem.what(),
                   "is 0.3, which leaves none of 3 pairs to train on; give at least 0.33");
    }
    EXPECT_NO_THROW(MakeScored(*info, examples, {.params = ParamsOf(*info, {{"keep", 0.34}})}));
  }
}

TEST(Pruning, RefusesScoresThatAreMissingOrNoNumbers) {
  const Examples examples = PlainExamples(3, 1);
  const std::vector<float> two = {1, 2};
  std::vector<float> broken = {1, 2, std::numeric_limits<float>::quiet_NaN()};
  for (const SamplerInfo* info : {&kStaticPruning, &kDynamicPruning}) {
    EXPECT_THROW(info->make(examples, {.scores = {two, {}}}), std::invalid_argument);
    EXPECT_THROW(info->make(examples, {.scores = {broken, {}}}), std::invalid_argument);
  }
}

// Query q has the loss q in all epochs.
std::vector<Batch> InfoBatchPass(Sampler& sampler, uint64_t pass) {
  std::vector<Batch> batches;
  while (sampler.Passes() < static_cast<double>(pass + 1) - 1e-9) {
    batches.push_back(sampler.Next());
    std::vector<float> losses;
    for (const uint32_t q : batches.back().queries) losses.push_back(static_cast<float>(q));
    sampler.AddFeedback({.batch = &batches.back(), .cosines = losses, .losses = losses});
  }
  return batches;
}

TEST(InfoBatch, DropsBelowTheMeanWithItsProbabilityAndWeighsTheRest) {
  constexpr uint32_t kQueries = 11;  // the mean is 5: 0 to 4 are below it
  const Examples examples = PlainExamples(kQueries, 1);
  const config::Params params = ParamsOf(kInfoBatch, {{"drop", 0.3}, {"drop_until", 1.0}});
  const auto sampler =
      kInfoBatch.make(examples, {.batch = 4, .length = {.epochs = 5000}, .params = params});
  const std::vector<Batch> first = InfoBatchPass(*sampler, 0);
  size_t rows = 0;
  for (const Batch& batch : first) {
    rows += batch.rows();
    EXPECT_TRUE(batch.weights.empty());
  }
  EXPECT_EQ(rows, kQueries);
  constexpr int kPasses = 4000;
  std::vector<int> drawn(kQueries), together(2);
  for (uint64_t pass = 1; pass <= kPasses; ++pass) {
    std::vector<int> here(kQueries);
    for (const Batch& batch : InfoBatchPass(*sampler, pass)) {
      for (size_t row = 0; row < batch.rows(); ++row) {
        const uint32_t q = batch.queries[row];
        ++here[q];
        const double weight = batch.weights.empty() ? 1 : batch.weights[row];
        ASSERT_EQ(weight, q < 5 ? 1 / (1 - 0.3) : 1.0);
      }
    }
    for (uint32_t q = 0; q < kQueries; ++q) drawn[q] += here[q];
    ++together[here[0] == here[1] ? 1 : 0];
  }
  for (uint32_t q = 5; q < kQueries; ++q) EXPECT_EQ(drawn[q], kPasses);
  for (uint32_t q = 0; q < 5; ++q) {
    EXPECT_LT(ChiSquare({drawn[q], kPasses - drawn[q]}, {0.7, 0.3}), 24) << q;  // 1e-6, 1 degree
  }
  EXPECT_LT(ChiSquare(together, {0.42, 0.58}), 24);  // independent of each other
}

TEST(InfoBatch, DropsNothingInTheLastPart) {
  const Examples examples = PlainExamples(400, 1);
  const auto sampler = kInfoBatch.make(examples, {.batch = 8, .length = {.epochs = 8}});
  for (uint64_t pass = 0; pass < 8; ++pass) {
    size_t rows = 0, weighted = 0;
    for (const Batch& batch : InfoBatchPass(*sampler, pass)) {
      rows += batch.rows();
      weighted += batch.weights.empty() ? 0 : 1;
    }
    if (pass == 0 || pass == 7) {  // 7 / 8 is drop_until
      EXPECT_EQ(rows, 400) << pass;
      EXPECT_EQ(weighted, 0) << pass;
    } else {
      EXPECT_NEAR(static_cast<double>(rows), 300, 50) << pass;
      EXPECT_GT(weighted, 0) << pass;
    }
  }
}

// With steps the share of the run is that of its batches.
TEST(InfoBatch, FollowsStepsWhereTheRunIsGivenInSteps) {
  const Examples examples = PlainExamples(400, 1);
  const auto sampler =
      kInfoBatch.make(examples, {.batch = 8, .length = {.epochs = 100, .batches = 50}});
  size_t rows = 0;
  for (const Batch& batch : InfoBatchPass(*sampler, 0)) rows += batch.rows();
  for (const Batch& batch : InfoBatchPass(*sampler, 1)) rows += batch.rows();
  EXPECT_EQ(rows, 800);  // the second epoch begins at the run's end
}

// Two of four queries have had no feedback: the mean is that of the others, 5.
TEST(InfoBatch, WhatWasNeverSeenStaysAndIsNotInTheMean) {
  const Examples examples = PlainExamples(4, 1);
  const config::Params params = ParamsOf(kInfoBatch, {{"drop", 0.99}, {"drop_until", 1.0}});
  const auto sampler =
      kInfoBatch.make(examples, {.batch = 1, .length = {.epochs = 100}, .params = params});
  std::vector<int> drawn(4);
  for (uint64_t pass = 0; pass < 41; ++pass) {
    while (sampler->Passes() < static_cast<double>(pass + 1) - 1e-9) {
      const Batch batch = sampler->Next();
      const uint32_t query = batch.queries[0];
      if (pass > 0) ++drawn[query];
      const std::vector<float> loss = {query == 0 ? 0.0F : 10.0F};
      if (query < 2) sampler->AddFeedback({.batch = &batch, .cosines = loss, .losses = loss});
    }
  }
  EXPECT_LT(drawn[0], 6);
  EXPECT_EQ((std::vector<int>(drawn.begin() + 1, drawn.end())), (std::vector<int>{40, 40, 40}));
}

TEST(InfoBatch, NeedsLosses) {
  const Examples examples = PlainExamples(4, 1);
  const auto sampler = kInfoBatch.make(examples, {.batch = 4});
  const Batch batch = sampler->Next();
  EXPECT_THROW(sampler->AddFeedback({.batch = &batch, .cosines = {}, .losses = {}}),
               std::invalid_argument);
}

}  // namespace
}  // namespace tandem::sampling
