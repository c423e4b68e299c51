// Several data sets in one run: shares, turns, and what mixtures promise besides the contract of
// all samplers (contract_test.cc runs it over every order and mixture).
#include "sampling/mixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "sampling/audit.h"
#include "sampling/sampling_worlds.h"

namespace tandem::sampling {
namespace {

using testing::ElementsAre;

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Query q belongs to the source whose sizes up to it are above q.
std::vector<uint32_t> SourcesOfSizes(const std::vector<size_t>& sizes) {
  std::vector<uint32_t> sources;
  for (uint32_t s = 0; s < sizes.size(); ++s) sources.insert(sources.end(), sizes[s], s);
  return sources;
}

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

// Further documents of a query that comes twice in an epoch are drawn anew.
TEST(Mixture, ARepeatedQueryBringsOtherFurtherDocuments) {
  std::vector<uint64_t> hashes(2 * 21);
  std::iota(hashes.begin(), hashes.end(), 0);
  Examples examples(1, hashes);
  for (uint32_t q = 0; q < 2; ++q) {
    std::vector<Judged> judged = {{q * 21, 1}};
    for (uint32_t i = 1; i < 21; ++i) judged.push_back({q * 21 + i, 0});
    examples.Add(100 + q, judged);
  }
  const std::vector<uint32_t> sources = {0, 1};
  const auto sampler = kUniform.make(examples, {.batch = 1,
                                                .negatives = 2,
                                                .mixture = Mixture::kWeight,
                                                .sources = sources,
                                                .weights = {1, 0}});
  std::set<std::string> different;
  for (int i = 0; i < 8; ++i) different.insert(Text(sampler->Next()).substr(3));
  EXPECT_GT(different.size(), 4);
}

TEST(Mixture, EachSourceIsPrunedByItself) {
  const Examples examples = PlainExamples(20, 2);
  const std::vector<uint32_t> sources = SourcesOfSizes({10, 10});
  std::vector<float> cosines(40);
  for (size_t i = 0; i < 40; ++i) cosines[i] = static_cast<float>(i) / 40;  // the second is better
  const auto sampler =
      kStaticPruning.make(examples, {.batch = 5,
                                     .params = ParamsOf(kStaticPruning, {{"keep", 0.5}}),
                                     .scores = {cosines, {}},
                                     .mixture = Mixture::kRoundRobin,
                                     .sources = sources});
  const Epochs epochs = QueriesOf(*sampler, 1);
  EXPECT_THAT(Counts(epochs[0], sources, 2), ElementsAre(10, 10));
  const std::set<uint32_t> drawn(epochs[0].begin(), epochs[0].end());
  EXPECT_EQ(drawn, (std::set<uint32_t>{5, 6, 7, 8, 9, 15, 16, 17, 18, 19}));
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
      // Of the second source, whose quota is less than a pass: no pair is cut to 1.
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
