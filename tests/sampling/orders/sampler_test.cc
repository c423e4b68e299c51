// What `uniform` promises besides the contract of all samplers (contract_test.cc).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "sampling/catalogue.h"
#include "sampling/masks.h"
#include "sampling/sampling_worlds.h"

namespace tandem::sampling {
namespace {

TEST(Examples, RefusesUnknownAndRepeatedDocuments) {
  Examples examples(1, {1, 2});
  EXPECT_THROW(examples.Add(1, std::vector<Judged>{{2, 1}}), std::invalid_argument);
  EXPECT_THROW(examples.Add(1, std::vector<Judged>{{1, 1}, {0, 1}, {1, 0}}), std::invalid_argument);
  EXPECT_EQ(examples.size(), 0);
}

TEST(Uniform, EveryQueryOncePerPassAndBatchesInCountsThem) {
  for (const bool no_duplicates : {true, false}) {
    const Examples examples = SharedExamples(101);
    const auto sampler = kUniform.make(
        examples, {.seed = 2, .batch = 10, .negatives = 1, .no_duplicates = no_duplicates});
    const uint64_t one = sampler->BatchesIn(1), three = sampler->BatchesIn(3);
    std::map<uint64_t, std::multiset<uint32_t>> passes;
    for (uint64_t b = 0; b < three; ++b) {
      const Batch batch = sampler->Next();
      ASSERT_EQ(batch.epoch == 0, b < one);
      passes[batch.epoch].insert(batch.queries.begin(), batch.queries.end());
    }
    EXPECT_EQ(passes.size(), 3);
    for (const auto& [epoch, queries] : passes) {
      EXPECT_EQ(queries.size(), 101);
      EXPECT_EQ(std::set<uint32_t>(queries.begin(), queries.end()).size(), 101);
    }
    if (!no_duplicates) {
      EXPECT_EQ(three, 33);
    }
    EXPECT_EQ(sampler->Next().epoch, 3);
  }
}

// Runs that earlier versions began go on: FNV-1a of the batches that version 0.1.0 made, before
// orders and compositions were apart.
TEST(Uniform, BatchesAreThoseOfEarlierVersions) {
  const auto fingerprint = [](const SamplerOptions& options) {
    const Examples examples = SharedExamples(120);
    const auto sampler = kUniform.make(examples, options);
    uint64_t hash = 0xCBF29CE484222325;
    for (int b = 0; b < 60; ++b) {
      for (const unsigned char c : Text(sampler->Next())) hash = (hash ^ c) * 0x100000001B3;
    }
    return hash;
  };
  EXPECT_EQ(fingerprint({.seed = 7, .batch = 9, .negatives = 2}), 1108248762192872143U);
  EXPECT_EQ(fingerprint({.seed = 8, .batch = 9, .negatives = 2, .no_duplicates = false}),
            8489151074613313785U);
  EXPECT_EQ(fingerprint({.seed = 9, .batch = 16, .negatives = 3, .graded_own = true}),
            7317431433222979851U);
}

TEST(Uniform, PartOfAPassCountsRoundedUp) {
  Examples examples(1, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  for (uint32_t q = 0; q < 10; ++q) examples.Add(q, std::vector<Judged>{{q, 1}});
  const auto sampler = kUniform.make(examples, {.batch = 2});
  EXPECT_EQ(sampler->BatchesIn(1), 5);
  EXPECT_EQ(sampler->BatchesIn(0.5), 3);
  EXPECT_EQ(sampler->BatchesIn(2.2), 11);
  EXPECT_EQ(sampler->BatchesIn(1e-6), 1);
}

TEST(Uniform, OneDocumentForAllGivesOneRowABatchInBoundedTime) {
  Examples examples(1, {7});
  for (uint32_t q = 0; q < 20000; ++q) examples.Add(q, std::vector<Judged>{{0, 1}});
  const auto sampler = kUniform.make(examples, {.batch = 64});
  for (int b = 0; b < 50; ++b) EXPECT_EQ(sampler->Next().rows(), 1);
}

TEST(Uniform, PositivesOrderAndFurtherDocumentsAreUniform) {
  constexpr uint32_t kQueries = 20;
  constexpr int kPasses = 3000;
  std::vector<uint64_t> hashes(kQueries * 10);
  for (size_t d = 0; d < hashes.size(); ++d) hashes[d] = d;
  Examples examples(1, hashes);
  for (uint32_t q = 0; q < kQueries; ++q) {
    std::vector<Judged> judged;
    for (uint32_t i = 0; i < 10; ++i) judged.push_back({q * 10 + i, i < 5 ? 1.0 : 0.0});
    examples.Add(q, judged);
  }
  const auto sampler = kUniform.make(examples, {.seed = 4, .batch = kQueries, .negatives = 2});
  std::vector<int> positives(5), further(5), first(kQueries), together(25);
  for (int pass = 0; pass < kPasses; ++pass) {
    const Batch batch = sampler->Next();
    ASSERT_EQ(batch.rows(), kQueries);
    ++first[batch.queries[0]];
    std::vector<int> drawn(kQueries);
    for (uint32_t row = 0; row < kQueries; ++row) {
      const int positive = static_cast<int>(batch.documents[row] % 10);
      ++positives[positive];
      drawn[batch.queries[row]] = positive;
      for (uint32_t c = batch.extra_starts[row]; c < batch.extra_starts[row + 1]; ++c) {
        ++further[batch.documents[c] % 10 - 5];
      }
    }
    ++together[drawn[3] * 5 + drawn[4]];  // neighbours draw independently
  }
  // Beyond these a uniform draw lies in one run of a million (chi-square, 4, 19 and 24 degrees).
  EXPECT_LT(ChiSquare(positives), 33.4);
  EXPECT_LT(ChiSquare(further), 33.4);
  EXPECT_LT(ChiSquare(first), 63.2);
  EXPECT_LT(ChiSquare(together), 71.7);
}

// Query q has documents 4q to 4q + 3 of grades 1, 0.5, 0 and 0, and an unused fourth one.
Examples GradedExamples(uint32_t queries) {
  std::vector<uint64_t> hashes(queries * 5);
  for (uint32_t d = 0; d < hashes.size(); ++d) hashes[d] = d;
  Examples examples(1, std::move(hashes));
  for (uint32_t q = 0; q < queries; ++q) {
    const uint32_t d = 5 * q;
    examples.Add(q, std::vector<Judged>{{d, 1}, {d + 1, 0.5}, {d + 2, 0}, {d + 3, 0}},
                 std::vector<Judged>{{d + 4, 1}});
  }
  return examples;
}

TEST(Uniform, PairedDocumentsOfAnyGradeAndTheRestAfterThem) {
  const Examples examples = GradedExamples(400);
  for (const bool no_duplicates : {true, false}) {
    const auto sampler = kUniform.make(
        examples,
        {.batch = 400, .negatives = 4, .no_duplicates = no_duplicates, .graded_own = true});
    const Batch batch = sampler->Next();
    EXPECT_EQ(batch.columns(), 1600U);  // all four that are judged, each once
    std::map<uint32_t, int> own;
    for (size_t row = 0; row < batch.rows(); ++row) {
      const uint32_t first = 5 * batch.queries[row];
      ++own[batch.documents[row] - first];
      std::set<uint32_t> labelled = {batch.documents[row] - first};
      for (uint32_t c = batch.extra_starts[row]; c < batch.extra_starts[row + 1]; ++c) {
        labelled.insert(batch.documents[c] - first);
      }
      EXPECT_EQ(labelled, (std::set<uint32_t>{0, 1, 2, 3}));
    }
    for (uint32_t place = 0; place < 4; ++place) EXPECT_NEAR(own[place], 100, 40);
  }
}

// A document above grade 0 is masked for its query: drawn, it would teach nothing.
TEST(Uniform, HardNegativesAreNegativesUnderTheMasks) {
  const Examples examples = GradedExamples(50);
  const auto sampler = kUniform.make(examples, {.batch = 10, .negatives = 1});
  std::set<uint32_t> places;
  for (int b = 0; b < 50; ++b) {
    const Batch batch = sampler->Next();
    const Masks masks = MakeMasks(examples, batch, {});
    for (size_t row = 0; row < batch.rows(); ++row) {
      ASSERT_EQ(batch.extra_starts[row + 1] - batch.extra_starts[row], 1U);
      const size_t column = batch.extra_starts[row];
      ASSERT_EQ(masks.negative[row * batch.columns() + column], 1) << batch.documents[column];
      places.insert(batch.documents[column] % 5);
    }
  }
  EXPECT_EQ(places, (std::set<uint32_t>{2, 3}));
}

// Sizes of the batches of the first epoch.
std::vector<size_t> Sizes(const Examples& examples, const SamplerOptions& options) {
  const auto sampler = kUniform.make(examples, options);
  std::vector<size_t> sizes;
  const uint64_t batches = sampler->BatchesIn(1);
  for (uint64_t b = 0; b < batches; ++b) sizes.push_back(sampler->Next().rows());
  return sizes;
}

TEST(Uniform, BatchesOfAPassAreOfOneSize) {
  Examples alone(1, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  for (uint32_t q = 0; q < 10; ++q) alone.Add(q, std::vector<Judged>{{q, 1}});
  for (const bool no_duplicates : {true, false}) {
    EXPECT_EQ(Sizes(alone, {.batch = 9, .no_duplicates = no_duplicates}),
              (std::vector<size_t>{5, 5}));
    EXPECT_EQ(Sizes(alone, {.batch = 4, .no_duplicates = no_duplicates}),
              (std::vector<size_t>{4, 3, 3}));
    EXPECT_EQ(Sizes(alone, {.batch = 1000, .no_duplicates = no_duplicates}),
              (std::vector<size_t>{10}));
  }
  // Three queries share a document: they would have been the last batches, of one query each.
  Examples shared(1, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  for (uint32_t q = 0; q < 10; ++q) shared.Add(q, std::vector<Judged>{{q < 3 ? 0 : q, 1}});
  EXPECT_EQ(Sizes(shared, {.batch = 8}), (std::vector<size_t>{4, 3, 3}));
}

// States of before had no version; their plan is continued only where it is the same.
TEST(Uniform, ContinuesTheFirstPlanWhereItIsTheSameAndElseRefusesIt) {
  Examples alone(1, {0, 1, 2, 3, 4, 5, 6, 7});
  for (uint32_t q = 0; q < 8; ++q) alone.Add(q, std::vector<Judged>{{q, 1}});
  const SamplerState state{.values = {{"epoch", 0}, {"batch", 1}}};
  const auto whole = kUniform.make(alone, {.batch = 4});
  whole->Next();
  const auto resumed = kUniform.make(alone, {.batch = 4});
  resumed->Restore(state);
  EXPECT_EQ(Text(whole->Next()), Text(resumed->Next()));
  EXPECT_THROW(kUniform.make(alone, {.batch = 5})->Restore(state), ModelError);
  const Examples shared = SharedExamples(8);
  EXPECT_THROW(kUniform.make(shared, {.batch = 4})->Restore(state), ModelError);
  const Examples related = GradedExamples(8);
  EXPECT_NO_THROW(kUniform.make(related, {.batch = 4})->Restore(state));
  EXPECT_THROW(kUniform.make(related, {.batch = 4, .negatives = 1})->Restore(state), ModelError);
}

// In version 2 copies never met. Its runs go on, but where the number of a run's steps is another
// one now.
TEST(Uniform, ContinuesTheSecondPlanWithoutCopiesAndElseRefusesIt) {
  Examples frequent(1, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  for (uint32_t q = 0; q < 20; ++q) frequent.Add(q, std::vector<Judged>{{q < 12 ? 0 : q - 11, 1}});
  const SamplerState state{.values = {{"plan", 2}, {"epoch", 0}, {"batch", 1}}};
  EXPECT_EQ(kUniform.make(frequent, {.batch = 8})->BatchesIn(1), 12U);
  EXPECT_EQ(kUniform.make(frequent, {.batch = 8, .copies_meet = true})->BatchesIn(1), 3U);
  EXPECT_THROW(kUniform.make(frequent, {.batch = 8, .copies_meet = true})->Restore(state),
               ModelError);
  const auto whole = kUniform.make(frequent, {.batch = 8});
  whole->Next();
  const auto resumed =
      kUniform.make(frequent, {.batch = 8, .copies_meet = true, .length = {.batches = 12}});
  resumed->Restore(state);
  for (int b = 0; b < 20; ++b) ASSERT_EQ(Text(whole->Next()), Text(resumed->Next()));
  EXPECT_EQ(resumed->State().values.at("plan"), 2);
  // Few duplicates: both versions make the same batches.
  const Examples shared = SharedExamples(90);
  const auto before = kUniform.make(shared, {.batch = 8});
  before->Next();
  const auto after = kUniform.make(shared, {.batch = 8, .copies_meet = true});
  after->Restore(state);
  for (int b = 0; b < 30; ++b) ASSERT_EQ(Text(before->Next()), Text(after->Next()));
}

// Without in-batch negatives a query keeps its own, whoever else has brought them.
TEST(Uniform, FurtherDocumentsAreEachQuerysOwnWithoutInBatchNegatives) {
  Examples examples(1, {0, 1, 2, 3, 3, 5});
  examples.Add(10, std::vector<Judged>{{0, 1}, {3, 0}, {4, 0}, {2, 0}});
  examples.Add(11, std::vector<Judged>{{1, 1}, {3, 0}, {0, 0}});
  examples.Add(12, std::vector<Judged>{{2, 1}, {3, 0}, {5, 0}});
  const auto count = [&](bool in_batch) {
    const Batch batch =
        kUniform.make(examples, {.batch = 3, .negatives = 3, .in_batch = in_batch})->Next();
    std::vector<uint32_t> counts;
    for (size_t row = 0; row < 3; ++row) {
      counts.push_back(batch.extra_starts[row + 1] - batch.extra_starts[row]);
    }
    return counts;
  };
  EXPECT_EQ(count(false), (std::vector<uint32_t>{2, 2, 2}));  // 4 is a copy of 3
  const std::vector<uint32_t> shared = count(true);
  EXPECT_EQ(shared[0] + shared[1] + shared[2], 2U);  // 3 and 5 once each
}

TEST(Uniform, PositivesOnlyWithoutGradedOwn) {
  const Examples examples = GradedExamples(20);
  const auto sampler = kUniform.make(examples, {.batch = 20, .negatives = 3});
  const Batch batch = sampler->Next();
  for (size_t row = 0; row < batch.rows(); ++row) {
    EXPECT_EQ(batch.documents[row], 5 * batch.queries[row]);
  }
  EXPECT_EQ(batch.columns(), 60U);  // the two of grade 0 of each query
  Examples none(1, {0, 1});
  none.Add(0, std::vector<Judged>{{0, 0}});
  EXPECT_THROW(kUniform.make(none, {.batch = 1}), std::invalid_argument);
  EXPECT_NO_THROW(kUniform.make(none, {.batch = 1, .graded_own = true}));
  Examples unused(1, {0, 1});
  unused.Add(0, {}, std::vector<Judged>{{0, 1}});
  EXPECT_THROW(kUniform.make(unused, {.batch = 1, .graded_own = true}), std::invalid_argument);
}

}  // namespace
}  // namespace tandem::sampling
