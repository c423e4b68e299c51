// Batches of a limited number of tokens, and the order in which batches come.
#include "sampling/composition/token_composition.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sampling/composition/batch_order.h"

namespace tandem::sampling {
namespace {

const StreamName kTokenStream = {1, "token composition test"};

struct SomePass {
  std::vector<BatchKeys> keys;
  std::vector<uint32_t> tokens;
  size_t limit = 0;
};

uint32_t AnyKey(uint32_t distinct) {
  const auto key = *rc::gen::inRange<uint32_t>(0, 2 * distinct);
  return key < distinct ? key : kNoKey;
}

// Queries of any length up to the limit; few or many of them share keys.
SomePass MakePass() {
  SomePass epoch;
  const auto queries = *rc::gen::inRange<size_t>(1, 120);
  epoch.limit = *rc::gen::inRange<size_t>(1, 60);
  const auto most = *rc::gen::inRange<uint32_t>(1, static_cast<uint32_t>(epoch.limit) + 1);
  const auto texts = *rc::gen::inRange<uint32_t>(1, 60);
  const auto documents = *rc::gen::inRange<uint32_t>(1, 60);
  for (size_t i = 0; i < queries; ++i) {
    epoch.keys.push_back({AnyKey(texts), AnyKey(documents)});
    epoch.tokens.push_back(*rc::gen::inRange<uint32_t>(1, most + 1));
  }
  return epoch;
}

// What a batch has, counted one query after the other.
struct Contents {
  uint64_t tokens = 0;
  size_t queries = 0;
  std::set<std::pair<bool, uint32_t>> keys;
  bool twice = false;

  void Add(const BatchKeys& key, uint32_t length) {
    tokens += length;
    ++queries;
    if (key.text != kNoKey) twice = !keys.emplace(false, key.text).second || twice;
    if (key.document != kNoKey) twice = !keys.emplace(true, key.document).second || twice;
  }
};

std::vector<Contents> ContentsOf(const SomePass& epoch, const std::vector<uint32_t>& batch_of) {
  std::vector<Contents> batches(1 + *std::max_element(batch_of.begin(), batch_of.end()));
  for (size_t i = 0; i < batch_of.size(); ++i) {
    batches[batch_of[i]].Add(epoch.keys[i], epoch.tokens[i]);
  }
  return batches;
}

RC_GTEST_PROP(TokenComposition, NoBatchIsTooLongEmptyOrHasAKeyTwice, ()) {
  const SomePass epoch = MakePass();
  const auto batch_of =
      ComposeByTokens(epoch.keys, epoch.tokens, {.limit = epoch.limit}, RandomStream(kTokenStream));
  RC_ASSERT(batch_of.size() == epoch.keys.size());
  RC_ASSERT(batch_of == ComposeByTokens(epoch.keys, epoch.tokens, {.limit = epoch.limit},
                                        RandomStream(kTokenStream)));
  for (const Contents& batch : ContentsOf(epoch, batch_of)) {
    RC_ASSERT(batch.tokens <= epoch.limit);
    RC_ASSERT(batch.queries > 0U);
    RC_ASSERT(!batch.twice);
  }
}

// Where queries are short and few share anything, batches are few and of even size.
RC_GTEST_PROP(TokenComposition, BatchesAreFewAndEven, ()) {
  SomePass epoch;
  epoch.limit = 1000;
  const auto most = *rc::gen::inRange<uint32_t>(2, 125);
  const auto queries = *rc::gen::inRange<size_t>(100, 1500);
  RandomStream random({*rc::gen::arbitrary<uint64_t>(), "lengths"});
  for (size_t i = 0; i < queries; ++i) {
    epoch.keys.push_back(i % 10 == 0 ? BatchKeys{.document = static_cast<uint32_t>(i / 30)}
                                     : BatchKeys{});
    epoch.tokens.push_back(1 + static_cast<uint32_t>(random.Below(most)));
  }
  const auto total = std::accumulate(epoch.tokens.begin(), epoch.tokens.end(), 0.0);
  const auto batches =
      ContentsOf(epoch, ComposeByTokens(epoch.keys, epoch.tokens, {.limit = epoch.limit},
                                        RandomStream(kTokenStream)));
  const double fewest = std::ceil(total / static_cast<double>(epoch.limit));
  RC_ASSERT(static_cast<double>(batches.size()) <= std::max(fewest + 3, 1.15 * fewest));
  const double mean = total / static_cast<double>(batches.size());
  for (const Contents& batch : batches) {
    RC_ASSERT(std::abs(static_cast<double>(batch.tokens) - mean) <= most);
  }
}

// The example of docs/sampling.md.
TEST(TokenComposition, TheExampleOfTheDocumentation) {
  const std::vector<uint32_t> tokens = {8, 6, 9, 5, 7, 4};
  const std::vector<BatchKeys> keys(6);
  EXPECT_EQ(ComposeByTokens(keys, tokens, {.limit = 20}, RandomStream(kTokenStream)),
            (std::vector<uint32_t>{0, 0, 1, 0, 1, 1}));
}

// The epoch is cut anew with one batch more where all would not fit.
TEST(TokenComposition, AsManyBatchesAsAreNeeded) {
  const std::vector<BatchKeys> keys(6);
  const auto cut = [&](const std::vector<uint32_t>& tokens, size_t limit) {
    return ComposeByTokens(std::span(keys).first(tokens.size()), tokens, {.limit = limit},
                           RandomStream(kTokenStream));
  };
  EXPECT_EQ(cut({6, 6, 6}, 10), (std::vector<uint32_t>{0, 1, 2}));  // 18 tokens: not in 2 batches
  EXPECT_EQ(cut({10, 10}, 10), (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(cut({1, 1, 1, 1}, 100), (std::vector<uint32_t>{0, 0, 0, 0}));
  EXPECT_THROW(cut({11}, 10), std::invalid_argument);
  EXPECT_THROW(cut({0}, 10), std::invalid_argument);
}

TEST(TokenComposition, OneKeyForHalfOfALargePass) {
  SomePass epoch{.limit = 640};
  for (uint32_t i = 0; i < 40000; ++i) {
    epoch.keys.push_back(
        {.text = i % 3 == 0 ? 0 : i % 1000, .document = i % 2 == 0 ? 0 : 1 + i % 700});
    epoch.tokens.push_back(1 + i % 20);
  }
  const auto batches =
      ContentsOf(epoch, ComposeByTokens(epoch.keys, epoch.tokens, {.limit = epoch.limit},
                                        RandomStream(kTokenStream)));
  EXPECT_GE(batches.size(), 20000U);
  EXPECT_LE(batches.size(), 28000U);
  for (const Contents& batch : batches) ASSERT_FALSE(batch.twice);
}

// Copies may meet here: there are no more batches than the tokens fill, and few more copies of a
// key in one than an even share.
TEST(TokenComposition, AFrequentKeyIsSpreadWhereCopiesMayMeet) {
  SomePass epoch{.limit = 640};
  for (uint32_t i = 0; i < 40000; ++i) {
    epoch.keys.push_back({.document = i % 2 == 0 ? 0 : 1 + i % 700});
    epoch.tokens.push_back(1 + i % 20);
  }
  const auto batch_of = ComposeByTokens(epoch.keys, epoch.tokens,
                                        {.limit = epoch.limit, .copies = Copies::kWhereTheyMust},
                                        RandomStream(kTokenStream));
  const auto batches = ContentsOf(epoch, batch_of);
  EXPECT_LE(batches.size(), 680U);  // 420,000 tokens
  std::vector<uint32_t> frequent(batches.size());
  for (size_t i = 0; i < batch_of.size(); i += 2) ++frequent[batch_of[i]];
  EXPECT_GE(*std::min_element(frequent.begin(), frequent.end()), 15U);
  EXPECT_LE(*std::max_element(frequent.begin(), frequent.end()), 31U);
  for (const Contents& batch : batches) ASSERT_LE(batch.tokens, 640U);
}

// Ranks of numbers that are all different, from 0.
std::vector<double> Ranks(const std::vector<double>& values) {
  std::vector<double> ranks;
  for (const double value : values) {
    ranks.push_back(static_cast<double>(
        std::count_if(values.begin(), values.end(), [&](double v) { return v < value; })));
  }
  return ranks;
}

// A test that looked at every batch for each query would go on for hours.
TEST(TokenComposition, ManyQueriesThatLeaveRoomForNoOther) {
  constexpr size_t kQueries = 200000;
  const std::vector<uint32_t> tokens(kQueries, 16);
  const std::vector<BatchKeys> alone(kQueries);
  std::vector<BatchKeys> twice(kQueries);
  for (uint32_t query = 0; query < kQueries; ++query) twice[query].text = query / 2;
  for (const auto& keys : {alone, twice}) {
    const auto one = ComposeByTokens(keys, tokens, {.limit = 24}, RandomStream(kTokenStream));
    EXPECT_EQ(1 + *std::max_element(one.begin(), one.end()), kQueries);
    const auto two = ComposeByTokens(keys, tokens, {.limit = 46}, RandomStream(kTokenStream));
    const size_t batches = 1 + *std::max_element(two.begin(), two.end());
    EXPECT_GE(batches, kQueries / 2);
    EXPECT_LE(batches, kQueries / 2 * 65 / 64 + 1);
  }
}

TEST(BatchOrder, TheTrendIsSpearmansCorrelation) {
  // Batches of one query: the place is the batch's number, lengths are all different.
  const std::vector<uint32_t> lengths = {30, 10, 50, 20, 40}, batch_of = {0, 1, 2, 3, 4};
  const std::vector<uint32_t> places = {3, 0, 4, 2, 1};
  const auto ranks = Ranks({lengths.begin(), lengths.end()});
  double squares = 0;
  for (size_t i = 0; i < 5; ++i) squares += (ranks[i] - places[i]) * (ranks[i] - places[i]);
  EXPECT_NEAR(LengthTrend(batch_of, places, lengths), 1 - 6 * squares / (5 * 24), 1e-12);
  EXPECT_NEAR(LengthTrend(batch_of, std::vector<uint32_t>{2, 0, 4, 1, 3}, lengths), 1, 1e-12);
  EXPECT_EQ(LengthTrend(batch_of, places, std::vector<uint32_t>(5, 7)), 0);
}

TEST(BatchOrder, IsAPermutationWithoutATrend) {
  std::vector<uint32_t> batch_of, lengths;
  for (uint32_t i = 0; i < 640; ++i) {
    batch_of.push_back(i / 20);
    lengths.push_back(i / 20);
  }
  int beyond = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream random({seed, "order"}), other({seed, "order"});
    const std::vector<uint32_t> order = BalancedOrder(batch_of, 32, lengths, random);
    std::vector<uint32_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (uint32_t b = 0; b < 32; ++b) ASSERT_EQ(sorted[b], b);
    ASSERT_LT(std::abs(LengthTrend(batch_of, order, lengths)), 0.021);
    const std::vector<uint32_t> any = ShuffledOrder(32, other);
    beyond += std::abs(LengthTrend(batch_of, any, lengths)) > 0.1 ? 1 : 0;
  }
  EXPECT_GT(beyond, 60);  // of orders that nobody looks at
}

}  // namespace
}  // namespace tandem::sampling
