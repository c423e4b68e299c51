// What the compositions promise besides the contract of all samplers: one task a batch, tokens,
// similar lengths, even batches, and that the draws of an order stay what they are.
#include "sampling/composition/batch_composer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "sampling/composition/composition_worlds.h"

namespace tandem::sampling {
namespace {

constexpr size_t kBatch = 32;
constexpr size_t kBatchTokens = 32 * kUsualTokens;

SamplerOptions OptionsOf(const Composition& composition, const Figures& figures,
                         bool no_duplicates = true) {
  SamplerOptions options{.seed = 3,
                         .batch = kBatch,
                         .no_duplicates = no_duplicates,
                         .length = {.epochs = 4},
                         .by_task = composition.by_task,
                         .similar_lengths = composition.similar_lengths,
                         .batch_tokens = composition.by_tokens ? kBatchTokens : 0};
  figures.AddTo(options);
  return options;
}

struct Case {
  std::string name;
  const SamplerInfo* info = nullptr;
  Composition composition;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const SamplerInfo* info : Samplers()) {
    for (const Composition& composition : Compositions()) {
      if (composition.plain()) continue;
      cases.push_back({std::string(info->name) + "_" + composition.name, info, composition});
    }
  }
  return cases;
}

class EveryComposition : public testing::TestWithParam<Case> {
 protected:
  const SamplerInfo& info() const { return *GetParam().info; }
  const Composition& composition() const { return GetParam().composition; }
};
INSTANTIATE_TEST_SUITE_P(Samplers, EveryComposition, testing::ValuesIn(Cases()),
                         [](const auto& test) { return test.param.name; });

// Queries or tokens of a batch, and of a task, by what limits batches.
struct Sizes {
  std::vector<double> batches;
  double sum = 0;
};

// A task that has enough for two batches has none that is less than half full, and not many more
// than it needs.
TEST_P(EveryComposition, NoTaskEndsInTinyBatches) {
  const Examples examples = SharedExamples(3000);
  const Figures figures(examples);
  const bool tokens = composition().by_tokens;
  const auto limit = static_cast<double>(tokens ? kBatchTokens : kBatch);
  for (const bool no_duplicates : {true, false}) {
    const auto sampler =
        MakeScored(info(), examples, OptionsOf(composition(), figures, no_duplicates));
    std::map<uint32_t, Sizes> tasks;
    for (const Batch& batch : TakePass(*sampler, 0)) {
      const auto size = static_cast<double>(tokens ? figures.TokensOf(batch) : batch.rows());
      Sizes& task = tasks[composition().by_task ? figures.tasks[batch.queries[0]] : 0];
      task.batches.push_back(size);
      task.sum += size;
    }
    EXPECT_EQ(tasks.size(), composition().by_task ? 3U : 1U);
    for (const auto& [task, sizes] : tasks) {
      ASSERT_GT(sizes.sum, 2 * limit);
      EXPECT_GE(*std::min_element(sizes.batches.begin(), sizes.batches.end()), limit / 2);
      EXPECT_LE(static_cast<double>(sizes.batches.size()), 2 + 1.15 * sizes.sum / limit);
    }
  }
}

// Spearman's rank correlation of places 0, 1, ... and `values`.
double TrendOf(const std::vector<double>& values) {
  std::vector<size_t> sorted(values.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::sort(sorted.begin(), sorted.end(),
            [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0, end = 0; begin < sorted.size(); begin = end) {
    while (end < sorted.size() && values[sorted[end]] == values[sorted[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) {
      ranks[sorted[i]] = static_cast<double>(begin + end - 1) / 2;
    }
  }
  const double middle = static_cast<double>(values.size() - 1) / 2;
  double both = 0, place_squares = 0, rank_squares = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double place = static_cast<double>(i) - middle, rank = ranks[i] - middle;
    both += place * rank;
    place_squares += place * place;
    rank_squares += rank * rank;
  }
  return both / std::sqrt(place_squares * rank_squares);
}

// The tokens of query and paired document of each draw of an epoch, batch after batch.
std::vector<std::vector<double>> LengthsOf(Sampler& sampler, const Figures& figures,
                                           uint64_t epoch) {
  std::vector<std::vector<double>> lengths;
  for (const Batch& batch : TakePass(sampler, epoch)) {
    lengths.emplace_back();
    for (size_t row = 0; row < batch.rows(); ++row) {
      lengths.back().push_back(figures.queries[batch.queries[row]] +
                               figures.documents[batch.documents[row]]);
    }
  }
  return lengths;
}

double Variance(const std::vector<double>& values) {
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(values.size());
}

TEST_P(EveryComposition, LengthsAreSimilarInABatchAndHaveNoTrendOverAPass) {
  if (!composition().similar_lengths) return;
  const Examples examples = PlainExamples(4000, 2);
  const Figures figures(examples);
  const auto sampler = MakeScored(info(), examples, OptionsOf(composition(), figures));
  for (uint64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<double> all;
    double within = 0;
    for (const std::vector<double>& batch : LengthsOf(*sampler, figures, epoch)) {
      all.insert(all.end(), batch.begin(), batch.end());
      within += Variance(batch) * static_cast<double>(batch.size());
    }
    ASSERT_GT(all.size(), 1000U);
    EXPECT_LT(std::abs(TrendOf(all)), 0.05) << epoch;
    EXPECT_LT(within / static_cast<double>(all.size()), 0.1 * Variance(all)) << epoch;
  }
}

using DrawnPairs = std::multiset<std::pair<uint32_t, uint32_t>>;

DrawnPairs PairsOf(const std::vector<Batch>& batches) {
  DrawnPairs pairs;
  for (const Batch& batch : batches) {
    for (size_t row = 0; row < batch.rows(); ++row) {
      pairs.emplace(batch.queries[row], batch.documents[row]);
    }
  }
  return pairs;
}

// The composition decides about batches only. What an order draws depends on it as far as it learns
// from batches: so dynamic_pruning's first epoch has other random draws.
TEST_P(EveryComposition, ThePassHasTheOrdersDraws) {
  const Examples examples = SharedExamples(600);
  const Figures figures(examples);
  const auto sampler = MakeScored(info(), examples, OptionsOf(composition(), figures));
  const auto plain = MakeScored(info(), examples, OptionsOf({}, figures));
  const DrawnPairs drawn = PairsOf(TakePass(*sampler, 0)), other = PairsOf(TakePass(*plain, 0));
  EXPECT_EQ(drawn.size(), other.size());
  if (&info() == &kDynamicPruning) return;
  EXPECT_EQ(drawn, other);
}

// No query and no document is preferred, in the epoch or at its beginning.
TEST_P(EveryComposition, WhatComesFirstIsUniform) {
  if (&info() != &kUniform) return;
  constexpr uint32_t kQueries = 40;
  const Examples examples = PlainExamples(kQueries, 5);
  const Figures figures(examples);
  std::vector<int> positives(5), quarter(kQueries);
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    SamplerOptions options = OptionsOf(composition(), figures);
    options.seed = seed;
    options.batch = 4;
    options.batch_tokens = composition().by_tokens ? 5 * kUsualTokens : 0;
    const auto sampler = kUniform.make(examples, options);
    const std::vector<Batch> batches = TakePass(*sampler, 0);
    for (size_t b = 0; b < batches.size(); ++b) {
      for (size_t row = 0; row < batches[b].rows(); ++row) {
        ++positives[batches[b].documents[row] % 5];
        // A share of the epoch, since the number of batches is not the same for all seeds.
        if (4 * b < batches.size()) ++quarter[batches[b].queries[row]];
      }
    }
  }
  // Beyond these a uniform draw lies in one run of a million (chi-square, 4 and 39 degrees).
  EXPECT_LT(ChiSquare(positives), 33.4);
  EXPECT_LT(ChiSquare(quarter), 95.5);
}

// 25 of 40 queries are drawn: the 10 best for sure, all others with one probability.
TEST_P(EveryComposition, DynamicPruningDrawsAsItPromises) {
  if (&info() != &kDynamicPruning) return;
  const Examples examples = PlainExamples(40, 1);
  const Figures figures(examples);
  const std::vector<float> scores = PseudoScores(examples, 1);
  std::vector<uint32_t> ranked(40);
  std::iota(ranked.begin(), ranked.end(), 0);
  std::sort(ranked.begin(), ranked.end(), [&](auto a, auto b) { return scores[a] > scores[b]; });
  std::vector<int> others(30);
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    SamplerOptions options = OptionsOf(composition(), figures);
    options.seed = seed;
    options.batch = 4;
    const auto sampler = MakeScored(info(), examples, options);
    std::set<uint32_t> drawn;
    for (const Batch& batch : TakePass(*sampler, 0)) {
      drawn.insert(batch.queries.begin(), batch.queries.end());
    }
    ASSERT_EQ(drawn.size(), 25U);
    for (size_t i = 0; i < 10; ++i) ASSERT_TRUE(drawn.contains(ranked[i])) << seed;
    for (size_t i = 10; i < 40; ++i) others[i - 10] += drawn.contains(ranked[i]) ? 1 : 0;
  }
  EXPECT_LT(ChiSquare(others), 80.0);  // beyond: one run of a million (29 degrees)
}

// Queries of the batches of an epoch of dynamic_pruning with feedback of a seed.
std::vector<std::vector<uint32_t>> PooledEpochOf(int64_t update_interval, uint64_t feedback) {
  const Examples examples = PlainExamples(2000, 1);
  const Figures figures(examples);
  SamplerOptions options = OptionsOf({.by_task = true}, figures);
  options.batch = 8;
  options.params =
      ParamsOf(kDynamicPruning, {{"update_interval", update_interval}, {"levels", "queries"}});
  const auto sampler = MakeScored(kDynamicPruning, examples, options);
  std::vector<std::vector<uint32_t>> queries;
  for (const Batch& batch : TakePass(*sampler, 0, feedback)) queries.push_back(batch.queries);
  return queries;
}

// Feedback decides about the pools after the one that it came from.
TEST(PooledEpoch, FeedbackReachesTheNextPool) {
  for (const int64_t interval : {1, 50}) {
    const auto one = PooledEpochOf(interval, 5), other = PooledEpochOf(interval, 6);
    EXPECT_EQ(std::vector(one.begin(), one.begin() + 10),
              std::vector(other.begin(), other.begin() + 10));
    EXPECT_NE(one, other) << interval;
  }
  EXPECT_EQ(PooledEpochOf(100000, 5), PooledEpochOf(100000, 6));
}

// An epoch of some ten pools, begun and gone on with at any of its batches.
TEST(PooledEpoch, ResumedInAnyPoolContinuesAsUninterrupted) {
  const Examples examples = PlainExamples(2000, 1);
  const Figures figures(examples);
  SamplerOptions options = OptionsOf({.by_task = true, .similar_lengths = true}, figures);
  options.batch = 8;
  options.params =
      ParamsOf(kDynamicPruning, {{"update_interval", int64_t{50}}, {"levels", "queries"}});
  for (int stop = 1; stop < 110; stop += 3) {
    const auto whole = MakeScored(kDynamicPruning, examples, options);
    const auto resumed = MakeScored(kDynamicPruning, examples, options);
    for (int b = 0; b < stop; ++b) NextWithFeedback(*whole);
    resumed->Restore(Copied(whole->State()));
    for (int b = 0; b < 80; ++b) {
      ASSERT_EQ(Text(NextWithFeedback(*whole)), Text(NextWithFeedback(*resumed))) << stop;
    }
  }
}

// A task's last batches are even, wherever in a pool the epoch ends.
TEST(PooledEpoch, NoTaskEndsInATinyBatchWhateverThePassesLength) {
  for (uint32_t queries = 1500; queries < 2100; queries += 11) {
    const Examples examples = PlainExamples(queries, 1);
    const Figures figures(examples);
    for (const bool tokens : {false, true}) {
      const SamplerOptions options = OptionsOf({.by_task = true, .by_tokens = tokens}, figures);
      const auto sampler = MakeScored(kDynamicPruning, examples, options);
      for (const Batch& batch : TakePass(*sampler, 0)) {
        const size_t size = tokens ? figures.TokensOf(batch) : batch.rows();
        ASSERT_GE(size, (tokens ? kBatchTokens : kBatch) / 2) << queries;
      }
    }
  }
}

// What is far from the epoch's beginning is not left to its end.
TEST(PooledEpoch, EveryTaskComesAllAlong) {
  const Examples examples = PlainExamples(6000, 1);
  const Figures figures(examples);
  const auto sampler = MakeScored(kDynamicPruning, examples, OptionsOf({.by_task = true}, figures));
  const std::vector<Batch> batches = TakePass(*sampler, 0);
  std::map<uint32_t, std::vector<size_t>> places;
  for (size_t b = 0; b < batches.size(); ++b) {
    places[figures.tasks[batches[b].queries[0]]].push_back(b);
  }
  ASSERT_EQ(places.size(), 3U);
  for (const auto& [task, at] : places) {
    double mean = 0;
    for (const size_t place : at) mean += static_cast<double>(place);
    mean /= static_cast<double>(at.size() * batches.size());
    EXPECT_NEAR(mean, 0.5, 0.12) << task;
  }
}

// A world of a few queries, each with a document of its own, whose lengths a test gives.
struct SmallWorld {
  SmallWorld(std::vector<uint32_t> lengths, std::vector<uint32_t> tasks_of)
      : examples(PlainExamples(static_cast<uint32_t>(lengths.size()), 1)),
        queries(lengths.size(), 0),
        documents(std::move(lengths)),
        tasks(std::move(tasks_of)),
        pairs(examples, false) {}

  // The batches of all queries in their order, as sorted lists of their numbers.
  std::set<std::vector<uint32_t>> Compose(SamplerOptions options) const {
    options.tasks = tasks;
    options.lengths = {queries, documents};
    const BatchComposer composer(pairs, options);
    std::vector<Draw> draws;
    for (uint32_t q = 0; q < documents.size(); ++q) draws.push_back({q, q});
    const DrawBatches batches = composer.Compose(draws, RandomStream({1, "small"}));
    std::set<std::vector<uint32_t>> found;
    for (size_t b = 0; b < batches.size(); ++b) {
      std::vector<uint32_t> numbers;
      for (const Draw& draw : batches.Batch(b)) numbers.push_back(draw.query);
      found.insert(numbers);
    }
    return found;
  }

  Examples examples;
  std::vector<uint32_t> queries, documents, tasks;
  Pairs pairs;
};

using Found = std::set<std::vector<uint32_t>>;

// The examples of docs/sampling.md; queries are numbered in the order of the epoch.
TEST(BatchComposer, TheExamplesOfTheDocumentation) {
  const SmallWorld world({8, 6, 9, 5, 7, 4}, {0, 1, 0, 0, 1, 0});
  EXPECT_EQ(world.Compose({.batch = 3, .by_task = true}), (Found{{0, 2}, {3, 5}, {1, 4}}));
  EXPECT_EQ(world.Compose({.batch = 2, .similar_lengths = true}), (Found{{3, 5}, {1, 4}, {0, 2}}));
  EXPECT_EQ(world.Compose({.batch_tokens = 20}), (Found{{0, 1, 3}, {2, 4, 5}}));
}

TEST(BatchComposer, CountKnowsThatQueriesOfOneDocumentNeedBatchesOfTheirOwn) {
  Examples examples(1, std::vector<uint64_t>(10, 7));
  for (uint32_t q = 0; q < 10; ++q) examples.Add(q, std::vector<Judged>{{q, 1}});
  const Pairs pairs(examples, false);
  const std::vector<uint32_t> tasks = {0, 0, 0, 0, 0, 0, 0, 1, 1, 1};
  std::vector<Draw> draws;
  for (uint32_t q = 0; q < 10; ++q) draws.push_back({q, q});
  const auto count = [&](bool no_duplicates) {
    const SamplerOptions options{
        .batch = 4, .no_duplicates = no_duplicates, .by_task = true, .tasks = tasks};
    const BatchComposer composer(pairs, options);
    EXPECT_EQ(composer.Count(draws), composer.Compose(draws, RandomStream({1, "count"})).size());
    return composer.Count(draws);
  };
  EXPECT_EQ(count(true), 10U);
  EXPECT_EQ(count(false), 3U);
}

TEST(BatchComposer, RulesHoldTogether) {
  const SmallWorld world({8, 6, 9, 5, 7, 4}, {0, 1, 0, 0, 1, 0});
  EXPECT_EQ(world.Compose({.batch = 2, .by_task = true, .similar_lengths = true}),
            (Found{{3, 5}, {0, 2}, {1, 4}}));
  EXPECT_EQ(world.Compose({.by_task = true, .batch_tokens = 13}), (Found{{0, 3}, {2, 5}, {1, 4}}));
}

TEST(BatchComposer, NamesTheQueryThatIsTooLong) {
  const SmallWorld world({8, 6, 9, 5}, {});
  try {
    world.Compose({.batch_tokens = 8});
    FAIL();
  } catch (const DrawTooLong& problem) {
    EXPECT_EQ(problem.longest().draw.query, 2U);
    EXPECT_EQ(problem.longest().tokens, 9U);
  }
  EXPECT_NO_THROW(world.Compose({.batch_tokens = 9}));
  EXPECT_THROW(BatchComposer(world.pairs, {.batch_tokens = 9}), std::invalid_argument);
  EXPECT_THROW(BatchComposer(world.pairs, {.similar_lengths = true}), std::invalid_argument);
  const std::vector<uint32_t> tasks = {0, 1, 0};
  EXPECT_THROW(BatchComposer(world.pairs, {.by_task = true, .tasks = tasks}),
               std::invalid_argument);
}

}  // namespace
}  // namespace tandem::sampling
