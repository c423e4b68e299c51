// The pencil examples of docs/sampling.md, sampler by sampler. Examples of batches are in
// batch_composer_test.cc, that of several data sets in mixed_order_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "sampling/audit/audit.h"
#include "sampling/sampling_worlds.h"

namespace tandem::sampling {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

using DrawnPair = std::pair<uint32_t, uint32_t>;

// Queries with so many positives each, which nothing else has.
Examples Positives(const std::vector<uint32_t>& counts) {
  std::vector<uint64_t> hashes;
  for (const uint32_t count : counts) {
    for (uint32_t i = 0; i < count; ++i) hashes.push_back(hashes.size());
  }
  Examples examples(1, hashes);
  uint32_t document = 0;
  for (uint32_t query = 0; query < counts.size(); ++query) {
    std::vector<Judged> judged;
    for (uint32_t i = 0; i < counts[query]; ++i) judged.push_back({document++, 1});
    examples.Add(1000 + query, judged);
  }
  return examples;
}

std::vector<DrawnPair> PairListOf(const std::vector<Batch>& batches) {
  std::vector<DrawnPair> pairs;
  for (const Batch& batch : batches) {
    for (size_t row = 0; row < batch.rows(); ++row) {
      pairs.emplace_back(batch.queries[row], batch.documents[row]);
    }
  }
  return pairs;
}

TEST(Documentation, UniformHasEveryQueryOnce) {
  const Examples examples = Positives({3, 1});
  const auto sampler = kUniform.make(examples, {.seed = 3, .batch = 2});
  std::vector<int> of_a(3);
  std::set<uint32_t> firsts;
  for (uint64_t pass = 0; pass < 3000; ++pass) {
    const std::vector<DrawnPair> pairs = PairListOf(TakePass(*sampler, pass));
    ASSERT_EQ(pairs.size(), 2);
    firsts.insert(pairs[0].first);
    const DrawnPair& a = pairs[0].first == 0 ? pairs[0] : pairs[1];
    const DrawnPair& b = pairs[0].first == 0 ? pairs[1] : pairs[0];
    EXPECT_EQ(b, DrawnPair(1, 3));
    ++of_a.at(a.second);
  }
  EXPECT_THAT(firsts, ElementsAre(0, 1));
  EXPECT_LT(ChiSquare(of_a), 27.6);  // beyond: one run of a million (2 degrees of freedom)
}

// A: documents 0 and 1; B: 2; C: 3 and 4.
TEST(Documentation, StaticPruningKeepsThreeOfFivePairs) {
  const Examples examples = Positives({2, 1, 2});
  const auto pass_by = [&](const std::vector<float>& cosines) {
    const auto sampler =
        kStaticPruning.make(examples, {.batch = 3,
                                       .params = ParamsOf(kStaticPruning, {{"keep", 0.6}}),
                                       .scores = {.cosines = cosines, .consistencies = {}}});
    return TakePass(*sampler, 0);
  };
  const std::vector<Batch> pass = pass_by({0.9F, 0.8F, 0.3F, 0.6F, 0.2F});
  EXPECT_THAT(PairListOf(pass),
              UnorderedElementsAre(DrawnPair(0, 0), DrawnPair(0, 1), DrawnPair(2, 3)));
  ASSERT_EQ(pass.size(), 2);  // the draws of A share a text
  for (const Batch& batch : pass) {
    EXPECT_EQ(std::count(batch.queries.begin(), batch.queries.end(), 0U), 1);
  }
  EXPECT_THAT(PairListOf(pass_by(std::vector<float>(5, 0.5F))),
              UnorderedElementsAre(DrawnPair(0, 0), DrawnPair(0, 1), DrawnPair(1, 2)));
}

TEST(Documentation, RandomPruningKeepsAnyThreeOfFivePairs) {
  const Examples examples = Positives({2, 1, 2});
  std::set<std::set<DrawnPair>> kept;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const auto sampler = kRandomPruning.make(
        examples, {.seed = seed, .batch = 3, .params = ParamsOf(kRandomPruning, {{"keep", 0.6}})});
    const std::vector<DrawnPair> pairs = PairListOf(TakePass(*sampler, 0));
    EXPECT_EQ(pairs.size(), 3);
    kept.insert({pairs.begin(), pairs.end()});
  }
  EXPECT_EQ(kept.size(), 10);  // all ways to choose 3 of 5
}

// Says how many pairs each epoch has for sure, and the probability of the others.
struct Probabilities : PassAudit {
  void BeginPass(uint64_t, const Pairs&, std::span<const float> probabilities) override {
    sure.push_back(std::count(probabilities.begin(), probabilities.end(), 1.0F));
    others.push_back(*std::min_element(probabilities.begin(), probabilities.end()));
  }
  void AddBatch(std::span<const Draw>) override {}
  void EndPass(std::span<const LeftOut>) override {}
  std::vector<ptrdiff_t> sure;
  std::vector<float> others;
};

TEST(Documentation, DynamicPruningIsSureOf250QueriesAtTheStartAnd531AtTheEnd) {
  const Examples examples = PlainExamples(1000, 1);
  const auto sampler = MakeScored(kDynamicPruning, examples, {.length = {.batches = 1}});
  Probabilities audit;
  sampler->set_audit(&audit);
  EXPECT_EQ(PairListOf(TakePass(*sampler, 0)).size(), 625);
  EXPECT_EQ(PairListOf(TakePass(*sampler, 1)).size(), 625);
  EXPECT_THAT(audit.sure, ElementsAre(250, 531));
  EXPECT_FLOAT_EQ(audit.others[0], 375 / 750.0F);
  EXPECT_FLOAT_EQ(audit.others[1], 94 / 469.0F);
}

// The first three queries of eight; training finds -1 for each that it has seen.
std::vector<uint32_t> FirstThree(uint64_t seed, int64_t interval) {
  const Examples examples = PlainExamples(8, 1);
  const std::vector<float> cosines = {0.8F, 0.7F, 0.6F, 0.5F, 0.4F, 0.3F, 0.2F, 0.1F};
  const auto sampler = kDynamicPruning.make(
      examples,
      {.seed = seed,
       .batch = 1,
       .params = ParamsOf(kDynamicPruning, {{"alpha_end", 2.0}, {"update_interval", interval}}),
       .scores = {.cosines = cosines, .consistencies = {}}});
  EXPECT_EQ(sampler->QueriesIn(0), 5);
  std::vector<uint32_t> queries;
  while (queries.size() < 3) {
    const Batch batch = sampler->Next();
    queries.push_back(batch.queries[0]);
    const std::vector<float> worst = {-1}, losses = {1};
    sampler->AddFeedback({.batch = &batch, .cosines = worst, .losses = losses});
  }
  return queries;
}

TEST(Documentation, DynamicPruningRanksAnewAfterEveryStepOrEveryTen) {
  std::set<uint32_t> thirds;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    EXPECT_THAT(FirstThree(seed, 1), ElementsAre(0, 1, 2));
    const std::vector<uint32_t> by_ten = FirstThree(seed, 10);
    EXPECT_THAT(std::span(by_ten).first(2), ElementsAre(0, 1));
    thirds.insert(by_ten[2]);
  }
  EXPECT_THAT(thirds, ElementsAre(2, 3, 4, 5, 6, 7));
}

// Queries A, B, C, D are 0 to 3; D has no loss yet.
TEST(Documentation, InfoBatchLeavesOutQueriesOfLowLoss) {
  const Examples examples = PlainExamples(4, 1);
  const std::vector<float> losses = {2.0F, 0.4F, 0.6F};
  std::vector<int> in(4);
  constexpr int kRuns = 2000;
  for (uint64_t seed = 1; seed <= kRuns; ++seed) {
    const auto sampler =
        kInfoBatch.make(examples, {.seed = seed, .batch = 1, .length = {.epochs = 4}});
    for (int i = 0; i < 4; ++i) {
      const Batch batch = sampler->Next();
      if (batch.queries[0] == 3) continue;
      const std::vector<float> cosine = {0};
      sampler->AddFeedback({.batch = &batch,
                            .cosines = cosine,
                            .losses = std::span(losses).subspan(batch.queries[0], 1)});
    }
    for (Batch batch = sampler->Next(); batch.epoch == 1; batch = sampler->Next()) {
      const uint32_t query = batch.queries[0];
      ++in[query];
      const double weight = batch.weights.empty() ? 1 : batch.weights[0];
      EXPECT_EQ(weight, query == 1 || query == 2 ? 2 : 1);
    }
  }
  EXPECT_EQ(in[0], kRuns);
  EXPECT_EQ(in[3], kRuns);
  for (const int query : {1, 2}) {
    EXPECT_LT(ChiSquare({in[query], kRuns - in[query]}), 23.9);  // one run of a million
  }
}

}  // namespace
}  // namespace tandem::sampling
