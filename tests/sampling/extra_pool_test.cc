// Mined negatives: how a sampler draws them beside the documents that are judged.
#include "sampling/extra_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/error.h"
#include "sampling/catalogue.h"
#include "sampling/sampling_worlds.h"

namespace tandem::sampling {
namespace {

constexpr uint32_t kQueries = 20;
constexpr uint32_t kJudged = 4;      // of each query: one positive, one related, two negatives
constexpr uint32_t kUnjudged = 100;  // documents after all that are judged

// Document kJudged * q + i is judged for query q; nothing is shared.
Examples Judged4() {
  std::vector<uint64_t> hashes(kQueries * kJudged + kUnjudged);
  for (size_t d = 0; d < hashes.size(); ++d) hashes[d] = d;
  Examples examples(1, std::move(hashes));
  for (uint32_t q = 0; q < kQueries; ++q) {
    const uint32_t first = kJudged * q;
    examples.Add(1000 + q, std::vector<Judged>{{first, 1}, {first + 1, 0.5}, {first + 2, 0}},
                 std::vector<Judged>{{first + 3, 0}});
  }
  return examples;
}

// Query q gets five documents that nobody judged, from number `stride` * q of them on.
ExtraPool PoolOf(const Examples& examples, uint32_t stride) {
  std::vector<uint32_t> starts = {0}, documents;
  for (uint32_t q = 0; q < kQueries; ++q) {
    for (uint32_t i = 0; i < 5; ++i) documents.push_back(kQueries * kJudged + stride * q + i);
    starts.push_back(static_cast<uint32_t>(documents.size()));
  }
  return ExtraPool(examples, std::move(starts), std::move(documents));
}

std::span<const uint32_t> ExtraOf(const Batch& batch, size_t row) {
  return std::span(batch.documents)
      .subspan(batch.extra_starts[row], batch.extra_starts[row + 1] - batch.extra_starts[row]);
}

// Each of a query's judged negative and its five mined documents is as likely as any other, also
// together; nothing else ever comes.
TEST(ExtraPool, JudgedAndMinedDocumentsAreDrawnAlike) {
  const Examples examples = Judged4();
  const auto sampler = kUniform.make(examples, {.seed = 5, .batch = kQueries, .negatives = 2});
  sampler->set_mined(PoolOf(examples, 5));
  std::vector<int> drawn(6), pairs(15);
  for (int pass = 0; pass < 2000; ++pass) {
    const Batch batch = sampler->Next();
    for (size_t row = 0; row < batch.rows(); ++row) {
      const uint32_t query = batch.queries[row];
      std::vector<uint32_t> places;
      for (const uint32_t document : ExtraOf(batch, row)) {
        if (document == kJudged * query + 2) {
          places.push_back(5);
        } else {
          const uint32_t first = kQueries * kJudged + 5 * query;
          ASSERT_GE(document, first);
          ASSERT_LT(document, first + 5);
          places.push_back(document - first);
        }
        ++drawn[places.back()];
      }
      ASSERT_EQ(places.size(), 2);
      ASSERT_NE(places[0], places[1]);
      std::sort(places.begin(), places.end());
      ++pairs[places[1] * (places[1] - 1) / 2 + places[0]];
    }
  }
  // One run of a million is beyond these (chi-square, 5 and 14 degrees).
  EXPECT_LT(ChiSquare(drawn), 35.9);
  EXPECT_LT(ChiSquare(pairs), 55.6);
}

// Neighbours share a mined document here. None comes twice in a batch, and known documents never
// do, whichever documents the objective pairs with queries.
TEST(ExtraPool, NothingComesTwiceAndKnownDocumentsNever) {
  const Examples examples = Judged4();
  for (const bool graded_own : {false, true}) {
    const auto sampler = kUniform.make(
        examples, {.seed = 6, .batch = kQueries, .negatives = 7, .graded_own = graded_own});
    sampler->set_mined(PoolOf(examples, 4));
    size_t mined = 0;
    for (int pass = 0; pass < 50; ++pass) {
      const Batch batch = sampler->Next();
      EXPECT_EQ(std::set<uint32_t>(batch.documents.begin(), batch.documents.end()).size(),
                batch.columns());
      for (size_t row = 0; row < batch.rows(); ++row) {
        const uint32_t first = kJudged * batch.queries[row];
        for (const uint32_t document : ExtraOf(batch, row)) {
          mined += document >= kQueries * kJudged;
          EXPECT_NE(document, first + 3);  // left out of training
          if (!graded_own) {
            EXPECT_NE(document, first);
            EXPECT_NE(document, first + 1);
          }
        }
      }
    }
    EXPECT_GT(mined, 50U * kQueries * 4);
  }
}

// A sampler that gets the state of another one draws what that one would.
TEST(ExtraPool, IsPartOfTheState) {
  const Examples examples = Judged4();
  const SamplerOptions options{.seed = 7, .batch = 6, .negatives = 2};
  const auto sampler = kUniform.make(examples, options);
  EXPECT_TRUE(sampler->State().arrays.empty());
  const SamplerState before = sampler->State();
  sampler->set_mined(PoolOf(examples, 5));
  sampler->Next();
  const auto other = kUniform.make(examples, options);
  other->Restore(sampler->State());
  for (int b = 0; b < 8; ++b) EXPECT_EQ(Text(other->Next()), Text(sampler->Next()));
  // A state without a pool takes the pool away.
  other->Restore(before);
  EXPECT_EQ(Text(other->Next()), Text(kUniform.make(examples, options)->Next()));
}

TEST(ExtraPool, RefusesWhatIsNoPool) {
  const Examples examples = Judged4();
  const auto make = [&](uint32_t document, std::vector<uint32_t> more = {}) {
    std::vector<uint32_t> documents = {document};
    documents.insert(documents.end(), more.begin(), more.end());
    std::vector<uint32_t> starts(kQueries + 1, static_cast<uint32_t>(documents.size()));
    starts[0] = 0;
    return ExtraPool(examples, starts, documents);
  };
  EXPECT_NO_THROW(make(5));  // that of another query
  for (const uint32_t known : {0, 1, 2, 3}) EXPECT_THROW(make(known), std::invalid_argument);
  EXPECT_THROW(make(9, {9}), std::invalid_argument);
  EXPECT_THROW(make(kQueries * kJudged + kUnjudged), std::invalid_argument);
  EXPECT_THROW(ExtraPool(examples, {0, 1}, {9}), std::invalid_argument);
  std::vector<uint32_t> falling(kQueries + 1, 1);
  EXPECT_THROW(ExtraPool(examples, falling, {9}), std::invalid_argument);
  SamplerState state;
  state.Add("mined/starts", falling);
  state.Add("mined/documents", std::vector<uint32_t>{9});
  EXPECT_THROW(ExtraPool::Restore(examples, state), ModelError);
}

// Equal texts are the same document.
TEST(ExtraPool, RefusesCopiesOfKnownDocuments) {
  Examples examples(1, {7, 8, 7});
  examples.Add(1, std::vector<Judged>{{0, 1}});
  EXPECT_NO_THROW(ExtraPool(examples, {0, 1}, {1}));
  EXPECT_THROW(ExtraPool(examples, {0, 1}, {2}), std::invalid_argument);
}

}  // namespace
}  // namespace tandem::sampling
