// The contract of every sampler of the catalogue, with each composition.
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "sampling/composition/composition_worlds.h"
#include "sampling/sampling_worlds.h"

namespace tandem::sampling {
namespace {

struct Case {
  std::string name;
  const SamplerInfo* info = nullptr;
  Settings settings;
  SamplerOptions options;
  Composition composition;
};

// The parameters that are tried: the defaults of every entry of the catalogue, and some others.
std::vector<Case> PlainCases() {
  std::vector<Case> plain;
  for (const SamplerInfo* info : Samplers()) plain.push_back({std::string(info->name), info});
  plain.push_back(
      {"static_consistency", &kStaticPruning, {{"score", "consistency"}, {"keep", 0.5}}});
  plain.push_back({"dynamic_queries",
                   &kDynamicPruning,
                   {{"levels", "queries"}, {"update_interval", int64_t{3}}}});
  plain.push_back({"dynamic_documents", &kDynamicPruning, {{"levels", "documents"}}});
  plain.push_back(
      {"dynamic_kept", &kDynamicPruning, {{"keep", 0.6}, {"update_interval", int64_t{2}}}});
  return plain;
}

struct MixtureCase {
  const char* name = "";
  Mixture mixture = Mixture::kSize;
  std::vector<double> weights = {};  // of three sources
};

Case Mixed(Case one, const MixtureCase& mixed) {
  one.name += mixed.name;
  one.options.mixture = mixed.mixture;
  one.options.weights = mixed.weights;
  return one;
}

Case With(Case one, const Composition& composition, bool no_duplicates, bool graded) {
  one.name += composition.plain() ? "" : "_" + composition.name;
  one.name += no_duplicates ? "" : "_copies";
  one.name += graded ? "_graded" : "";
  one.composition = composition;
  one.options = {.no_duplicates = no_duplicates,
                 .graded_own = graded,
                 .accumulate = 2,
                 .length = {.epochs = 6},
                 .params = ParamsOf(*one.info, one.settings),
                 .by_task = composition.by_task,
                 .similar_lengths = composition.similar_lengths};
  return one;
}

// Copies may meet where they must.
Case WithFrequent(Case one) {
  one.name += "_frequent";
  one.options.copies_meet = true;
  return one;
}

// Each in every composition with and without copies, and for objectives of graded documents. Each
// also with three sources: of different weights in the plain composition, in turns in the others.
std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const Case& one : PlainCases()) {
    for (const Composition& composition : Compositions()) {
      for (const bool no_duplicates : {true, false}) {
        for (const bool graded : {false, true}) {
          cases.push_back(With(one, composition, no_duplicates, graded));
          if (!composition.plain()) continue;
          cases.push_back(Mixed(cases.back(), {"_weight", Mixture::kWeight, {4, 1, 0.5}}));
        }
      }
      cases.push_back(WithFrequent(With(one, composition, true, false)));
      cases.push_back(
          Mixed(With(one, composition, true, false), {"_round_robin", Mixture::kRoundRobin, {}}));
    }
  }
  return cases;
}

class EverySampler : public testing::TestWithParam<Case> {
 protected:
  // Makes the sampler with what the case does not say. Where batches are limited by tokens, they
  // have as many as `batch` queries usually have.
  std::unique_ptr<Sampler> Make(const Examples& examples, uint64_t seed, size_t batch,
                                size_t negatives) {
    SamplerOptions options = GetParam().options;
    options.seed = seed;
    options.batch = batch;
    options.negatives = negatives;
    if (GetParam().composition.by_tokens) options.batch_tokens = TokensOf(batch, negatives);
    Figured(examples).AddTo(options);
    // Sources of very different sizes.
    std::vector<uint32_t> sources(examples.size(), 2);
    for (size_t q = 0; q < examples.size() / 2; ++q) sources[q] = q < examples.size() / 8 ? 0 : 1;
    if (options.mixture != Mixture::kSize) options.sources = sources;
    return MakeScored(*GetParam().info, examples, options);
  }

  // Where copies may meet, two of five queries have one document.
  static Examples World(uint32_t queries) {
    const Examples shared = SharedExamples(queries);
    if (!GetParam().options.copies_meet) return shared;
    Examples examples(1, HashesOf(shared));
    for (uint32_t q = 0; q < queries; ++q) {
      std::vector<Judged> judged{{q % 5 < 2 ? 3 : q * 5 + 1, 1}};
      if (q % 5 >= 2) judged.push_back({q * 5 + 2, 1});
      judged.push_back({q * 5 + 4, 0});
      examples.Add(shared.query_hash(q), judged);
    }
    return examples;
  }
  static std::vector<uint64_t> HashesOf(const Examples& examples) {
    std::vector<uint64_t> hashes;
    for (uint32_t d = 0; d < examples.documents(); ++d) {
      hashes.push_back(examples.document_hash(d));
    }
    return hashes;
  }

  // At least as many tokens as any query brings.
  static size_t TokensOf(size_t batch, size_t negatives) {
    return std::max<size_t>(batch * (1 + negatives) * kUsualTokens, 128 + 83 * negatives);
  }

  const Figures& Figured(const Examples& examples) { return figures_.emplace_back(examples); }

  std::list<Figures> figures_;
};
INSTANTIATE_TEST_SUITE_P(Catalogue, EverySampler, testing::ValuesIn(Cases()),
                         [](const auto& test) { return test.param.name; });

TEST_P(EverySampler, SameSeedSamePlanOtherSeedOtherPlan) {
  const Examples examples = World(200);
  const auto one = Make(examples, 5, 8, 1), same = Make(examples, 5, 8, 1);
  const auto other = Make(examples, 6, 8, 1);
  int differ = 0;
  for (int b = 0; b < 60; ++b) {
    const std::string text = Text(NextWithFeedback(*one));
    ASSERT_EQ(text, Text(NextWithFeedback(*same)));
    differ += text != Text(NextWithFeedback(*other)) ? 1 : 0;
  }
  EXPECT_GT(differ, 30);  // a dynamic epoch begins with the best queries, whatever the seed
}

TEST_P(EverySampler, ResumedContinuesAsUninterrupted) {
  const Examples examples = World(90);
  for (int stop = 0; stop < 40; stop += 3) {
    const auto whole = Make(examples, 9, 7, 2);
    for (int b = 0; b < stop; ++b) NextWithFeedback(*whole);
    const auto resumed = Make(examples, 9, 7, 2);
    NextWithFeedback(*resumed, 99);  // what was done before Restore must not matter
    resumed->Restore(Copied(whole->State()));
    ASSERT_EQ(whole->Passes(), resumed->Passes());
    for (int b = 0; b < 40; ++b) {
      ASSERT_EQ(Text(NextWithFeedback(*whole)), Text(NextWithFeedback(*resumed))) << stop;
    }
    ASSERT_EQ(whole->State().values, resumed->State().values);
  }
}

// The state is saved between a batch and what came of it.
TEST_P(EverySampler, ResumedBeforeItsFeedbackContinuesAsUninterrupted) {
  const Examples examples = World(90);
  for (int stop = 1; stop < 30; stop += 4) {
    const auto whole = Make(examples, 9, 7, 1), resumed = Make(examples, 9, 7, 1);
    for (int b = 1; b < stop; ++b) NextWithFeedback(*whole);
    const Batch batch = whole->Next();
    resumed->Restore(Copied(whole->State()));
    MadeUpFeedback(batch, 5).GiveTo(*whole);
    MadeUpFeedback(batch, 5).GiveTo(*resumed);
    for (int b = 0; b < 30; ++b) {
      ASSERT_EQ(Text(NextWithFeedback(*whole)), Text(NextWithFeedback(*resumed))) << stop;
    }
  }
}

TEST_P(EverySampler, GoesBackToAnEarlierState) {
  const Examples examples = World(60);
  const auto sampler = Make(examples, 4, 8, 1);
  for (int b = 0; b < 9; ++b) NextWithFeedback(*sampler);
  const SamplerState state = Copied(sampler->State());
  std::vector<std::string> texts;
  for (int b = 0; b < 20; ++b) texts.push_back(Text(NextWithFeedback(*sampler)));
  sampler->Restore(state);
  for (int b = 0; b < 20; ++b) ASSERT_EQ(texts[b], Text(NextWithFeedback(*sampler))) << b;
}

bool Holds(const JudgedList& list, uint32_t document) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Judged& one) { return one.document == document; });
}

TEST_P(EverySampler, BatchesAreWellFormedAndHoldNothingTwice) {
  const Examples examples = World(120);
  const bool graded = GetParam().options.graded_own;
  const Pairs pairs(examples, graded);
  const auto sampler = Make(examples, 3, 16, 2);
  const Figures& figures = Figured(examples);
  for (int b = 0; b < 60; ++b) {
    const Batch batch = NextWithFeedback(*sampler);
    ASSERT_GE(batch.rows(), 1);
    if (GetParam().composition.by_tokens) {
      ASSERT_LE(figures.TokensOf(batch), TokensOf(16, 2));
    } else {
      ASSERT_LE(batch.rows(), 16);
    }
    std::set<uint32_t> tasks;
    for (const uint32_t q : batch.queries) tasks.insert(figures.tasks[q]);
    ASSERT_TRUE(tasks.size() == 1 || !GetParam().composition.by_task);
    ASSERT_EQ(batch.extra_starts.size(), batch.rows() + 1);
    ASSERT_EQ(batch.extra_starts.front(), batch.rows());
    ASSERT_EQ(batch.extra_starts.back(), batch.columns());
    ASSERT_TRUE(batch.weights.empty() || batch.weights.size() == batch.rows());
    std::set<uint64_t> texts, query_texts;
    for (const uint32_t q : batch.queries) query_texts.insert(examples.query_hash(q));
    for (const uint32_t d : batch.documents) texts.insert(examples.document_hash(d));
    if (GetParam().options.no_duplicates && !GetParam().options.copies_meet) {
      ASSERT_EQ(query_texts.size(), batch.rows());
      ASSERT_EQ(texts.size(), batch.columns());
    }
    for (size_t row = 0; row < batch.rows(); ++row) {
      const uint32_t query = batch.queries[row];
      ASSERT_TRUE(Holds(pairs.pool(query), batch.documents[row]));
      for (uint32_t c = batch.extra_starts[row]; c < batch.extra_starts[row + 1]; ++c) {
        ASSERT_TRUE(
            Holds(graded ? examples.judged(query) : examples.negatives(query), batch.documents[c]));
        ASSERT_NE(batch.documents[c], batch.documents[row]);
      }
      ASSERT_LE(batch.extra_starts[row + 1] - batch.extra_starts[row], 2);
    }
  }
}

// An epoch has as many queries as the sampler says, and BatchesIn counts its batches where the
// sampler says that it knows.
TEST_P(EverySampler, PassesAreAsLongAsItSays) {
  const Examples examples = World(120);
  const auto sampler = Make(examples, 3, 16, 0);
  uint64_t batches = 0;
  for (uint64_t pass = 0; pass < 4; ++pass) {
    uint64_t queries = 0;
    for (const Batch& batch : TakePass(*sampler, pass)) {
      ASSERT_EQ(batch.epoch, pass);
      queries += batch.rows();
      ++batches;
    }
    ASSERT_DOUBLE_EQ(sampler->Passes(), static_cast<double>(pass + 1));
    if (GetParam().info != &kInfoBatch) {
      ASSERT_EQ(queries, sampler->QueriesIn(pass));
    }
    if (sampler->KnowsBatches()) {
      ASSERT_EQ(batches, sampler->BatchesIn(static_cast<double>(pass + 1)));
    }
  }
}

TEST_P(EverySampler, LearnsFromFeedbackWhereItSaysSo) {
  const Examples examples = World(200);
  const auto one = Make(examples, 5, 8, 0), other = Make(examples, 5, 8, 0);
  int differ = 0;
  for (int b = 0; b < 80; ++b) {
    differ += Text(NextWithFeedback(*one, 5)) != Text(NextWithFeedback(*other, 6)) ? 1 : 0;
  }
  const bool learns = GetParam().info == &kInfoBatch || GetParam().info == &kDynamicPruning;
  EXPECT_EQ(differ > 0, learns) << differ;
}

TEST_P(EverySampler, RefusesWhatItCannotSample) {
  const SamplerInfo& info = *GetParam().info;
  if (GetParam().options.mixture != Mixture::kSize) return;  // mixed_order_test.cc
  SamplerOptions options = GetParam().options;
  const Examples none(1, {1});
  EXPECT_THROW(MakeScored(info, none, {}), std::invalid_argument);
  Examples without(1, {1});
  without.Add(1, std::vector<Judged>{{0, 0.5}});
  EXPECT_THROW(MakeScored(info, without, {}), std::invalid_argument);
  const Examples some = SharedExamples(10);
  EXPECT_THROW(MakeScored(info, some, {.batch = 0}), std::invalid_argument);
  Figured(some).AddTo(options);
  if (info.NeedsScores(GetParam().options.params).any()) {
    EXPECT_THROW(info.make(some, options), std::invalid_argument);
  } else {
    EXPECT_NO_THROW(info.make(some, options));
  }
}

TEST_P(EverySampler, RefusesTheStateOfOtherData) {
  const Examples examples = World(40), others = SharedExamples(30);
  const auto sampler = Make(examples, 1, 4, 0), other = Make(others, 1, 4, 0);
  for (int b = 0; b < 3; ++b) NextWithFeedback(*sampler);
  EXPECT_THROW(sampler->Restore({.values = Json::object()}), JsonError);
  if (sampler->State().arrays.empty()) return;
  EXPECT_THROW(other->Restore(sampler->State()), ModelError);
  EXPECT_THROW(sampler->Restore({.values = sampler->State().values}), ModelError);
}

}  // namespace
}  // namespace tandem::sampling
