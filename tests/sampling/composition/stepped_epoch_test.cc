// Batches of dynamic_pruning where queries or documents have the same text.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "sampling/sampling_worlds.h"

namespace tandem::sampling {
namespace {

// One document for a third of the queries, all of them the best: they wait and are spread.
TEST(DynamicPruning, CopiesAreSpreadWithoutStarvingThePass) {
  constexpr uint32_t kQueries = 300;
  std::vector<uint64_t> hashes(kQueries);
  for (uint32_t d = 0; d < kQueries; ++d) hashes[d] = d < 30 ? 0 : d;
  Examples examples(1, hashes);
  for (uint32_t q = 0; q < kQueries; ++q) examples.Add(q, std::vector<Judged>{{q, 1}});
  std::vector<float> scores(kQueries);
  for (uint32_t q = 0; q < kQueries; ++q) scores[q] = 1 - 0.005F * static_cast<float>(q);
  const auto sampler =
      kDynamicPruning.make(examples, {.batch = 4,
                                      .params = ParamsOf(kDynamicPruning, {{"alpha_end", 2.0}}),
                                      .scores = {scores, {}}});
  EXPECT_FALSE(sampler->KnowsBatches());
  for (uint64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<size_t> sizes;
    std::set<uint32_t> queries;
    for (const Batch& batch : TakePass(*sampler, epoch)) {
      sizes.push_back(batch.rows());
      queries.insert(batch.queries.begin(), batch.queries.end());
    }
    EXPECT_EQ(queries.size(), 187);  // n0
    EXPECT_EQ(sizes.size(), 47);
    EXPECT_EQ(*std::min_element(sizes.begin(), sizes.end()), 3);
    EXPECT_EQ(*std::max_element(sizes.begin(), sizes.end()), 4);
  }
}

// Where there is nothing but copies, each has a batch of its own, in bounded time.
TEST(DynamicPruning, OneDocumentForAllGivesOneRowABatch) {
  Examples examples(1, {7});
  for (uint32_t q = 0; q < 5000; ++q) examples.Add(q, std::vector<Judged>{{0, 1}});
  const std::vector<float> scores(5000, 0.5F);
  for (const char* levels : {"both", "documents"}) {
    const auto sampler =
        kDynamicPruning.make(examples, {.batch = 64,
                                        .params = ParamsOf(kDynamicPruning, {{"levels", levels}}),
                                        .scores = {scores, {}}});
    std::set<uint32_t> queries;
    for (int b = 0; b < 200; ++b) {
      const Batch batch = sampler->Next();
      ASSERT_EQ(batch.rows(), 1);
      queries.insert(batch.queries[0]);
    }
    EXPECT_EQ(queries.size(), 200);
  }
}

// The two frequent documents may meet here: batches are full, and no query is alone.
TEST(DynamicPruning, FrequentDocumentsLeaveNoQueryAlone) {
  constexpr uint32_t kQueries = 1000;
  std::vector<uint64_t> hashes(kQueries);
  for (uint32_t d = 0; d < kQueries; ++d) hashes[d] = d % 5 < 2 ? 0 : d;
  Examples examples(1, hashes);
  for (uint32_t q = 0; q < kQueries; ++q) examples.Add(q, std::vector<Judged>{{q, 1}});
  const std::vector<float> scores = PseudoScores(examples, 3);
  for (const char* levels : {"both", "queries", "documents"}) {
    const auto sampler =
        kDynamicPruning.make(examples, {.batch = 32,
                                        .copies_meet = true,
                                        .params = ParamsOf(kDynamicPruning, {{"levels", levels}}),
                                        .scores = {scores, {}}});
    EXPECT_GT(sampler->MostCopies(), 12U);
    EXPECT_LT(sampler->MostCopies(), 32U);
    for (uint64_t epoch = 0; epoch < 3; ++epoch) {
      const std::vector<Batch> batches = TakePass(*sampler, epoch);
      const size_t draws = sampler->QueriesIn(epoch);
      EXPECT_EQ(batches.size(), (draws + 31) / 32) << levels;
      for (const Batch& batch : batches) {
        const auto others = std::count_if(batch.documents.begin(), batch.documents.end(),
                                          [&](uint32_t d) { return hashes[d] != 0; });
        EXPECT_GE(batch.rows(), 20U) << levels;
        EXPECT_GT(others, 0) << levels;
      }
    }
  }
}

TEST(DynamicPruning, OneDocumentForAllFillsBatchesWhereCopiesMayMeet) {
  Examples examples(1, {7});
  for (uint32_t q = 0; q < 500; ++q) examples.Add(q, std::vector<Judged>{{0, 1}});
  const std::vector<float> scores(500, 0.5F);
  const auto sampler = kDynamicPruning.make(examples, {.batch = 64,
                                                       .copies_meet = true,
                                                       .params = ParamsOf(kDynamicPruning, {}),
                                                       .scores = {scores, {}}});
  for (int b = 0; b < 4; ++b) EXPECT_GE(sampler->Next().rows(), 60U);
}

// A draw that a batch cannot have waits, first in line for the next batch, where the epoch has
// every query; where it leaves queries out another one comes in its place.
TEST(DynamicPruning, APassOfEveryQueryLetsDrawsWait) {
  constexpr uint32_t kQueries = 40, kSame = 6;
  std::vector<uint64_t> hashes(kQueries);
  for (uint32_t d = 0; d < kQueries; ++d) hashes[d] = d;
  Examples examples(1, hashes);
  for (uint32_t q = 0; q < kQueries; ++q) {
    examples.Add(q < kSame ? 0 : q, std::vector<Judged>{{q, 1}});
  }
  const std::vector<float> scores = PseudoScores(examples, 3);
  for (const auto& [levels, waits] : {std::pair{"documents", true}, std::pair{"queries", false}}) {
    Settings settings = {{"levels", levels}};
    if (!waits) {  // nothing is in for sure
      settings.insert(settings.end(),
                      {{"alpha_start", 2.0}, {"alpha_end", 2.0}, {"base_share", 0.0}});
    }
    size_t waited = 0;
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      const auto sampler =
          kDynamicPruning.make(examples, {.seed = seed,
                                          .batch = 8,
                                          .params = ParamsOf(kDynamicPruning, settings),
                                          .scores = {scores, {}}});
      std::set<uint32_t> drawn;
      while (drawn.size() < sampler->QueriesIn(0)) {
        const SamplerState state = sampler->State();
        const auto waiting = state.Integers("waiting");  // queue, by document, query, document
        const Batch batch = sampler->Next();
        ASSERT_EQ(batch.epoch, 0);
        if (!waiting.empty()) {
          ++waited;
          EXPECT_EQ(batch.queries[0], waiting[2]);
        }
        for (const uint32_t query : batch.queries) EXPECT_TRUE(drawn.insert(query).second);
      }
    }
    EXPECT_EQ(waited > 0, waits);
  }
}

}  // namespace
}  // namespace tandem::sampling
