// Several data sets in one run: what mixtures promise besides the contract of all samplers
// (contract_test.cc runs it over every order and mixture).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "sampling/audit/audit.h"
#include "sampling/sampling_worlds.h"

namespace tandem::sampling {
namespace {

using testing::ElementsAre;

// Query q belongs to the source whose sizes up to it are above q.
std::vector<uint32_t> SourcesOfSizes(const std::vector<size_t>& sizes) {
  std::vector<uint32_t> sources;
  for (uint32_t s = 0; s < sizes.size(); ++s) sources.insert(sources.end(), sizes[s], s);
  return sources;
}

// The queries of each epoch in the order of their draws.
using Epochs = std::vector<std::vector<uint32_t>>;
Epochs QueriesOf(Sampler& sampler, uint64_t epochs) {
  Epochs all;
  for (uint64_t epoch = 0; epoch < epochs; ++epoch) {
    std::vector<uint32_t>& queries = all.emplace_back();
    for (const Batch& batch : TakePass(sampler, epoch)) {
      queries.insert(queries.end(), batch.queries.begin(), batch.queries.end());
    }
  }
  return all;
}

std::vector<size_t> Counts(const std::vector<uint32_t>& queries,
                           const std::vector<uint32_t>& sources, size_t count) {
  std::vector<size_t> counts(count, 0);
  for (const uint32_t query : queries) ++counts[sources[query]];
  return counts;
}

// The example of docs/sampling.md: 4 and 8 queries.
TEST(Mixture, TheExampleOfTheDocumentation) {
  const Examples examples = PlainExamples(12, 1);
  const std::vector<uint32_t> sources = SourcesOfSizes({4, 8});
  const auto make = [&](Mixture mixture, std::vector<double> weights) {
    return kUniform.make(
        examples,
        {.batch = 4, .mixture = mixture, .sources = sources, .weights = std::move(weights)});
  };
  const auto counts = [&](Mixture mixture, std::vector<double> weights) {
    const auto sampler = make(mixture, std::move(weights));
    EXPECT_EQ(sampler->QueriesIn(0), 12);
    EXPECT_EQ(sampler->BatchesIn(2), 6);
    std::vector<std::vector<size_t>> all;
    for (const auto& epoch : QueriesOf(*sampler, 2)) all.push_back(Counts(epoch, sources, 2));
    return all;
  };
  EXPECT_THAT(counts(Mixture::kSize, {}), ElementsAre(ElementsAre(4, 8), ElementsAre(4, 8)));
  EXPECT_THAT(counts(Mixture::kRoundRobin, {}), ElementsAre(ElementsAre(6, 6), ElementsAre(6, 6)));
  EXPECT_THAT(counts(Mixture::kWeight, {3, 1}), ElementsAre(ElementsAre(9, 3), ElementsAre(9, 3)));

  // 3 to 1: in an epoch each query of the first source comes twice, and one a third time; those of
  // the second come in turn, so that all eight have come after three epochs, one of them twice.
  const auto sampler = make(Mixture::kWeight, {3, 1});
  const Epochs epochs = QueriesOf(*sampler, 3);
  std::map<uint32_t, int> times;
  for (const uint32_t query : epochs[0]) ++times[query];
  std::multiset<int> first;
  for (uint32_t query = 0; query < 4; ++query) first.insert(times[query]);
  EXPECT_THAT(first, ElementsAre(2, 2, 2, 3));
  for (const uint64_t epoch : {1, 2}) {
    for (const uint32_t query : epochs[epoch]) ++times[query];
  }
  std::multiset<int> second;
  for (uint32_t query = 4; query < 12; ++query) second.insert(times[query]);
  EXPECT_THAT(second, ElementsAre(1, 1, 1, 1, 1, 1, 1, 2));
}

TEST(Mixture, EveryQueryOfASourceIsDrawnAsOften) {
  const Examples examples = SharedExamples(90);
  const std::vector<uint32_t> sources = SourcesOfSizes({7, 53, 30});
  for (const Mixture mixture : {Mixture::kWeight, Mixture::kRoundRobin}) {
    std::vector<double> weights;
    if (mixture == Mixture::kWeight) weights = {1, 1, 0.3};
    const auto sampler = kUniform.make(
        examples, {.batch = 8, .mixture = mixture, .sources = sources, .weights = weights});
    std::map<uint32_t, int> times;
    for (const auto& epoch : QueriesOf(*sampler, 7)) {
      ASSERT_EQ(epoch.size(), 90);
      for (const uint32_t query : epoch) ++times[query];
      std::vector<int> least(3, 1000), most(3, 0);
      for (uint32_t query = 0; query < 90; ++query) {
        least[sources[query]] = std::min(least[sources[query]], times[query]);
        most[sources[query]] = std::max(most[sources[query]], times[query]);
      }
      for (size_t s = 0; s < 3; ++s) ASSERT_LE(most[s] - least[s], 1) << s;
    }
  }
}

// Each batch of `round_robin` has about as many queries of each source.
TEST(Mixture, SourcesOfABatchComeInTurns) {
  const Examples examples = PlainExamples(120, 1);
  const std::vector<uint32_t> sources = SourcesOfSizes({20, 40, 60});
  const auto sampler =
      kUniform.make(examples, {.batch = 12, .mixture = Mixture::kRoundRobin, .sources = sources});
  int off = 0;
  for (const Batch& batch : TakePass(*sampler, 0)) {
    for (const size_t count : Counts(batch.queries, sources, 3)) off += count == 4 ? 0 : 1;
  }
  EXPECT_LE(off, 6);  // of 30: repeated queries of the first source are moved to other batches
}

TEST(Mixture, BatchesOfOneTaskComeInTurns) {
  const Examples examples = PlainExamples(90, 1);
  const std::vector<uint32_t> sources = SourcesOfSizes({20, 30, 40});
  for (const SamplerInfo* info : {&kUniform, &kDynamicPruning}) {
    const auto sampler = MakeScored(*info, examples,
                                    {.batch = 5,
                                     .mixture = Mixture::kRoundRobin,
                                     .sources = sources,
                                     .by_task = true,
                                     .tasks = sources});
    std::vector<uint32_t> tasks;
    for (const Batch& batch : TakePass(*sampler, 0)) {
      tasks.push_back(sources[batch.queries[0]]);
      for (const uint32_t query : batch.queries) ASSERT_EQ(sources[query], tasks.back());
    }
    int again = 0;
    for (size_t i = 1; i < tasks.size(); ++i) again += tasks[i] == tasks[i - 1] ? 1 : 0;
    EXPECT_LE(again, 2) << info->name << ": " << fmt::format("{}", fmt::join(tasks, " "));
  }
}

TEST(Mixture, ASourceOfWeightZeroIsNotDrawn) {
  const Examples examples = PlainExamples(30, 2);
  const std::vector<uint32_t> sources = SourcesOfSizes({10, 10, 10});
  for (const SamplerInfo* info : Samplers()) {
    const auto sampler = MakeScored(
        *info, examples,
        {.batch = 4, .mixture = Mixture::kWeight, .sources = sources, .weights = {1, 0, 2}});
    for (const auto& epoch : QueriesOf(*sampler, 3)) {
      const std::vector<size_t> counts = Counts(epoch, sources, 3);
      EXPECT_EQ(counts[1], 0) << info->name;
      EXPECT_GT(counts[0], 0) << info->name;
      EXPECT_NEAR(static_cast<double>(counts[2]), 2.0 * static_cast<double>(counts[0]), 2.01);
    }
  }
}

TEST(Mixture, SourcesHaveRandomStreamsOfTheirOwn) {
  const Examples examples = PlainExamples(40, 1);
  const std::vector<uint32_t> sources = SourcesOfSizes({20, 20});
  const auto sampler =
      kUniform.make(examples, {.batch = 1, .mixture = Mixture::kRoundRobin, .sources = sources});
  const Epochs epochs = QueriesOf(*sampler, 1);
  int equal = 0;
  for (size_t i = 0; i < 40; i += 2) equal += epochs[0][i] + 20 == epochs[0][i + 1] ? 1 : 0;
  EXPECT_LT(equal, 8);
}

// Extra documents of a query that comes again in an epoch are drawn anew. The first source has one
// query, with twenty negatives.
TEST(Mixture, ARepeatedQueryBringsOtherFurtherDocuments) {
  std::vector<uint64_t> hashes(24);
  std::iota(hashes.begin(), hashes.end(), 0);
  Examples examples(1, hashes);
  std::vector<Judged> judged = {{0, 1}};
  for (uint32_t document = 1; document < 21; ++document) judged.push_back({document, 0});
  examples.Add(100, judged);
  for (uint32_t q = 1; q < 4; ++q) examples.Add(100 + q, std::vector<Judged>{{20 + q, 1}});
  const std::vector<uint32_t> sources = {0, 1, 1, 1};
  for (const SamplerInfo* info : {&kUniform, &kInfoBatch, &kDynamicPruning}) {
    const auto sampler = MakeScored(*info, examples,
                                    {.batch = 1,
                                     .negatives = 2,
                                     .length = {.epochs = 20},
                                     .mixture = Mixture::kWeight,
                                     .sources = sources,
                                     .weights = {3, 1}});
    std::map<uint64_t, std::vector<std::set<uint32_t>>> of_epoch;
    while (sampler->Passes() < 10) {
      const Batch batch = NextWithFeedback(*sampler);
      if (batch.queries[0] != 0) continue;
      of_epoch[batch.epoch].emplace_back(batch.documents.begin() + 1, batch.documents.end());
    }
    int repeated = 0, equal = 0;
    for (const auto& [epoch, further] : of_epoch) {
      for (size_t i = 1; i < further.size(); ++i) {
        ++repeated;
        equal += further[i] == further[i - 1] ? 1 : 0;
      }
    }
    EXPECT_GE(repeated, 4) << info->name;
    EXPECT_LE(equal, repeated / 4) << info->name;
  }
}

TEST(Mixture, QueriesOfLowLossWeighMoreInEachSource) {
  const Examples examples = PlainExamples(40, 1);
  const std::vector<uint32_t> sources = SourcesOfSizes({10, 30});
  const auto sampler = MakeScored(
      kInfoBatch, examples,
      {.batch = 4, .length = {.epochs = 8}, .mixture = Mixture::kRoundRobin, .sources = sources});
  std::vector<std::set<double>> weights(2);
  while (sampler->Passes() < 5) {
    const Batch batch = NextWithFeedback(*sampler);
    for (size_t row = 0; row < batch.weights.size(); ++row) {
      weights[sources[batch.queries[row]]].insert(batch.weights[row]);
    }
  }
  for (const std::set<double>& of_source : weights) EXPECT_THAT(of_source, ElementsAre(1, 2));
}

TEST(Mixture, EachSourceIsPrunedByItself) {
  const Examples examples = PlainExamples(20, 2);
  const std::vector<uint32_t> sources = SourcesOfSizes({10, 10});
  std::vector<float> cosines(40);
  // The second is better, and its first queries are.
  for (size_t i = 0; i < 40; ++i) cosines[i] = static_cast<float>(i < 20 ? i : 60 - i) / 40;
  const auto sampler =
      kStaticPruning.make(examples, {.batch = 5,
                                     .params = ParamsOf(kStaticPruning, {{"keep", 0.5}}),
                                     .scores = {cosines, {}},
                                     .mixture = Mixture::kRoundRobin,
                                     .sources = sources});
  const Epochs epochs = QueriesOf(*sampler, 1);
  EXPECT_THAT(Counts(epochs[0], sources, 2), ElementsAre(10, 10));
  const std::set<uint32_t> drawn(epochs[0].begin(), epochs[0].end());
  EXPECT_EQ(drawn, (std::set<uint32_t>{5, 6, 7, 8, 9, 10, 11, 12, 13, 14}));
}

TEST(Mixture, APrunedSourceThatIsLeftWithNothingIsNamed) {
  const Examples examples = PlainExamples(12, 1);
  const std::vector<uint32_t> sources = SourcesOfSizes({10, 2});
  try {
    kRandomPruning.make(examples, {.params = ParamsOf(kRandomPruning, {{"keep", 0.25}}),
                                   .mixture = Mixture::kRoundRobin,
                                   .sources = sources});
    FAIL();
  } catch (const OrderProblem& problem) {
    EXPECT_EQ(problem.key(), "keep");
    EXPECT_EQ(std::string(problem.what()),
              "is 0.25, which leaves none of 2 pairs to train on; give at least 0.5 (of "
              "data.source.2)");
  }
}

TEST(Mixture, RefusesSourcesThatAreNone) {
  const Examples examples = PlainExamples(4, 1);
  const auto make = [&](const std::vector<uint32_t>& sources, std::vector<double> weights) {
    return kUniform.make(
        examples, {.mixture = Mixture::kWeight, .sources = sources, .weights = std::move(weights)});
  };
  EXPECT_NO_THROW(make({0, 0, 1, 1}, {1, 2}));
  EXPECT_NO_THROW(make({0, 0, 2, 2}, {1, 0, 2}));
  EXPECT_THROW(make({0, 0, 2, 2}, {1, 1, 2}), std::invalid_argument);  // a source without a query
  EXPECT_THROW(make({0, 1, 0, 1}, {1, 2}), std::invalid_argument);     // not ascending
  EXPECT_THROW(make({0, 0, 1}, {1, 2}), std::invalid_argument);
  EXPECT_THROW(make({0, 0, 1, 2}, {1, 2}), std::invalid_argument);
  EXPECT_THROW(make({0, 0, 1, 1}, {0, 0}), std::invalid_argument);
  EXPECT_THROW(make({}, {}), std::invalid_argument);
}

class Recorded : public PassAudit {
 public:
  void BeginPass(uint64_t, const Pairs&, std::span<const float> probabilities) override {
    expected.emplace_back(probabilities.begin(), probabilities.end());
    drawn.emplace_back();
  }
  void AddBatch(std::span<const Draw> draws) override {
    if (drawn.empty()) drawn.emplace_back();  // of a pass under way
    for (const Draw& draw : draws) drawn.back().insert(draw.query);
  }
  void EndPass(std::span<const LeftOut> missing) override {
    std::set<uint32_t>& queries = left_out.emplace_back();
    for (const LeftOut& one : missing) queries.insert(one.query);
  }
  std::vector<std::vector<float>> expected;
  std::vector<std::set<uint32_t>> drawn, left_out;
};

TEST(Mixture, TheAuditTellsEveryQueryThatAnEpochLeftOut) {
  const Examples examples = PlainExamples(60, 3);
  const std::vector<uint32_t> sources = SourcesOfSizes({20, 40});
  for (const SamplerInfo* info : Samplers()) {
    if (info == &kUniform) continue;
    Recorded audit;
    const auto sampler = MakeScored(
        *info, examples,
        {.batch = 5, .mixture = Mixture::kWeight, .sources = sources, .weights = {4, 1}});
    sampler->set_audit(&audit);
    std::vector<uint64_t> draws;
    for (const auto& epoch : QueriesOf(*sampler, 4)) draws.push_back(epoch.size());
    ASSERT_EQ(audit.left_out.size(), 4);
    for (size_t pass = 0; pass < 4; ++pass) {
      std::set<uint32_t> all = audit.drawn[pass];
      all.insert(audit.left_out[pass].begin(), audit.left_out[pass].end());
      EXPECT_EQ(all.size(), 60) << info->name;
      EXPECT_EQ(audit.drawn[pass].size() + audit.left_out[pass].size(), 60) << info->name;
      // The quota of the second source is less than a pass: no pair is cut to 1.
      const auto& expected = audit.expected[pass];
      const double second = std::accumulate(expected.begin() + 60, expected.end(), 0.0);
      if (info == &kRandomPruning || info == &kStaticPruning) {
        EXPECT_NEAR(second, static_cast<double>(draws[pass]) / 5, 0.51);
      }
      for (const float one : expected) EXPECT_LE(one, 1);
    }
  }
}

TEST(Mixture, TheAuditIsTheSameAfterAResume) {
  const Examples examples = PlainExamples(60, 3);
  const std::vector<uint32_t> sources = SourcesOfSizes({20, 40});
  for (const SamplerInfo* info : Samplers()) {
    const auto make = [&] {
      return MakeScored(*info, examples,
                        {.batch = 7,
                         .length = {.epochs = 5},
                         .mixture = Mixture::kWeight,
                         .sources = sources,
                         .weights = {4, 1}});
    };
    const auto whole = make();
    for (int batch = 0; whole->Passes() < 4; ++batch) {
      Recorded expected, got;
      NextWithFeedback(*whole);
      const SamplerState state = Copied(whole->State());
      const auto resumed = make();
      resumed->Restore(state);
      const auto uninterrupted = make();
      for (int b = 0; b <= batch; ++b) NextWithFeedback(*uninterrupted);
      resumed->set_audit(&got);
      uninterrupted->set_audit(&expected);
      for (int b = 0; b < 12; ++b) {
        NextWithFeedback(*resumed);
        NextWithFeedback(*uninterrupted);
      }
      ASSERT_EQ(got.expected, expected.expected) << info->name << " " << batch;
      ASSERT_EQ(got.left_out, expected.left_out) << info->name << " " << batch;
    }
  }
}

}  // namespace
}  // namespace tandem::sampling
