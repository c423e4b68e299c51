// Batches of every structure of duplicates: how many, how large, and what may not meet.
#include "sampling/composition/composition.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace tandem::sampling {
namespace {

const StreamName kStream = {1, "composition test"};

// A key that few, some or most queries of an epoch share, or none.
uint32_t AnyKey(int kind, uint32_t distinct) {
  if (kind == 0) return kNoKey;
  const auto key = *rc::gen::inRange<uint32_t>(0, distinct);
  return kind == 1 ? key : key * *rc::gen::inRange<uint32_t>(0, 2);  // half of them are key 0
}

std::vector<BatchKeys> AnyPass() {
  const auto queries = *rc::gen::inRange<size_t>(1, 160);
  const auto texts = *rc::gen::inRange<uint32_t>(1, 40);
  const auto documents = *rc::gen::inRange<uint32_t>(1, 40);
  const int text_kind = *rc::gen::inRange(0, 3), document_kind = *rc::gen::inRange(0, 3);
  std::vector<BatchKeys> epoch;
  for (size_t i = 0; i < queries; ++i) {
    const bool alone = *rc::gen::inRange(0, 3) == 0;
    epoch.push_back(alone ? BatchKeys{}
                          : BatchKeys{AnyKey(text_kind, texts), AnyKey(document_kind, documents)});
  }
  return epoch;
}

size_t MostOfOneKey(const std::vector<BatchKeys>& epoch) {
  std::vector<size_t> texts(256), documents(256);
  size_t most = 0;
  for (const BatchKeys& keys : epoch) {
    if (keys.text != kNoKey) most = std::max(most, ++texts[keys.text]);
    if (keys.document != kNoKey) most = std::max(most, ++documents[keys.document]);
  }
  return most;
}

// The batches as lists of places in the epoch.
std::vector<std::vector<size_t>> Members(const std::vector<uint32_t>& batch_of, size_t batches) {
  std::vector<std::vector<size_t>> members(batches);
  for (size_t i = 0; i < batch_of.size(); ++i) members.at(batch_of[i]).push_back(i);
  return members;
}

bool NoKeyTwice(const std::vector<BatchKeys>& epoch, const std::vector<size_t>& members) {
  std::set<std::pair<bool, uint32_t>> seen;
  for (const size_t i : members) {
    const auto [text, document] = epoch[i];
    if (text != kNoKey && !seen.emplace(false, text).second) return false;
    if (document != kNoKey && !seen.emplace(true, document).second) return false;
  }
  return true;
}

void Check(const std::vector<BatchKeys>& epoch, size_t batch) {
  const size_t batches = std::max((epoch.size() + batch - 1) / batch, MostOfOneKey(epoch));
  RC_ASSERT(CountBatches(epoch, batch) == batches);
  const std::vector<uint32_t> batch_of =
      ComposeEvenly(epoch, {.batch = batch}, RandomStream(kStream));
  RC_ASSERT(batch_of.size() == epoch.size());
  RC_ASSERT(batch_of == ComposeEvenly(epoch, {.batch = batch}, RandomStream(kStream)));
  for (const std::vector<size_t>& members : Members(batch_of, batches)) {
    RC_ASSERT(members.size() >= epoch.size() / batches);
    RC_ASSERT(members.size() <= (epoch.size() + batches - 1) / batches);
    RC_ASSERT(members.size() <= batch);
    RC_ASSERT(NoKeyTwice(epoch, members));
  }
}

RC_GTEST_PROP(Composition, FewestBatchesOfOneSizeWithoutDuplicates, ()) {
  Check(AnyPass(), *rc::gen::inRange<size_t>(1, 70));
}

// Every text meets every document: each batch has to be a perfect matching, which nothing but
// exchanges finds.
RC_GTEST_PROP(Composition, TheTightestStructures, ()) {
  const auto side = *rc::gen::inRange<uint32_t>(1, 14);
  std::vector<BatchKeys> epoch;
  for (uint32_t text = 0; text < side; ++text) {
    for (uint32_t document = 0; document < side; ++document) epoch.push_back({text, document});
  }
  RandomStream({*rc::gen::arbitrary<uint64_t>(), "order"}).Shuffle(std::span(epoch));
  Check(epoch, side);
}

size_t CountIn(const std::vector<BatchKeys>& epoch, const std::vector<size_t>& members,
               const BatchKeys& key) {
  return static_cast<size_t>(std::count_if(members.begin(), members.end(), [&](size_t i) {
    return key.text != kNoKey ? epoch[i].text == key.text : epoch[i].document == key.document;
  }));
}

// Nothing changes where batches without copies are nearly as large; else there are no more batches
// than without duplicates, and each key is spread over them.
RC_GTEST_PROP(Composition, CopiesMeetOnlyWhereTheyMust, ()) {
  const std::vector<BatchKeys> epoch = AnyPass();
  const auto batch = *rc::gen::inRange<size_t>(1, 70);
  const EvenOptions options{.batch = batch, .copies = Copies::kWhereTheyMust};
  const size_t full = (epoch.size() + batch - 1) / batch, most = MostOfOneKey(epoch);
  const std::vector<uint32_t> batch_of = ComposeEvenly(epoch, options, RandomStream(kStream));
  if (!HaveToMeet(most, epoch.size(), full)) {
    RC_ASSERT(batch_of == ComposeEvenly(epoch, {.batch = batch}, RandomStream(kStream)));
    return;
  }
  RC_ASSERT(CountBatches(epoch, batch, Copies::kWhereTheyMust) == full);
  for (const std::vector<size_t>& members : Members(batch_of, full)) {
    RC_ASSERT(members.size() >= epoch.size() / full);
    RC_ASSERT(members.size() <= batch);
    for (const size_t i : members) {
      for (const BatchKeys& key :
           {BatchKeys{.text = epoch[i].text}, BatchKeys{.document = epoch[i].document}}) {
        if (key.text == kNoKey && key.document == kNoKey) continue;
        std::vector<size_t> all(epoch.size());
        std::iota(all.begin(), all.end(), 0);
        const size_t count = CountIn(epoch, all, key);
        RC_ASSERT(CountIn(epoch, members, key) <= (count + full - 1) / full);
      }
    }
  }
}

TEST(Composition, CopiesMeetBeforeBatchesShrinkByMoreThanAFifth) {
  EXPECT_FALSE(HaveToMeet(32, 1000, 32));
  EXPECT_FALSE(HaveToMeet(40, 1000, 32));
  EXPECT_TRUE(HaveToMeet(41, 1000, 32));
  EXPECT_FALSE(HaveToMeet(3, 10, 2));  // one batch more is always taken,
  EXPECT_TRUE(HaveToMeet(3, 5, 2));    // but not for batches of one query
  EXPECT_FALSE(HaveToMeet(1, 1, 1));
}

// Two of five queries have one answer: as many batches as of any 1,000 queries, each with about
// two fifths of them.
TEST(Composition, AFrequentAnswerIsSpreadOverFullBatches) {
  std::vector<BatchKeys> epoch(1000);
  for (uint32_t i = 0; i < epoch.size(); i += 5) epoch[i] = epoch[i + 2] = {.document = 0};
  const EvenOptions options{.batch = 32, .copies = Copies::kWhereTheyMust};
  EXPECT_EQ(CountBatches(epoch, 32), 400U);
  EXPECT_EQ(CountBatches(epoch, 32, Copies::kWhereTheyMust), 32U);
  for (const auto& members : Members(ComposeEvenly(epoch, options, RandomStream(kStream)), 32)) {
    EXPECT_GE(members.size(), 31U);
    const size_t frequent = CountIn(epoch, members, {.document = 0});
    EXPECT_GE(frequent, 10U);
    EXPECT_LE(frequent, 13U);
  }
}

// The other rule makes as few batches as there are without duplicates, whatever the keys, spreads
// each key over them, and keeps copies apart where they fit.
RC_GTEST_PROP(Composition, BatchesStayFull, ()) {
  const std::vector<BatchKeys> epoch = AnyPass();
  const auto batch = *rc::gen::inRange<size_t>(1, 70);
  const EvenOptions options{.batch = batch, .copies = Copies::kRatherThanSmallBatches};
  const size_t full = (epoch.size() + batch - 1) / batch;
  RC_ASSERT(CountBatches(epoch, batch, Copies::kRatherThanSmallBatches) == full);
  const std::vector<uint32_t> batch_of = ComposeEvenly(epoch, options, RandomStream(kStream));
  if (MostOfOneKey(epoch) <= full) {
    RC_ASSERT(batch_of == ComposeEvenly(epoch, {.batch = batch}, RandomStream(kStream)));
  }
  std::vector<size_t> all(epoch.size());
  std::iota(all.begin(), all.end(), 0);
  for (const std::vector<size_t>& members : Members(batch_of, full)) {
    RC_ASSERT(members.size() >= epoch.size() / full);
    RC_ASSERT(members.size() <= batch);
    for (const size_t i : members) {
      for (const BatchKeys& key :
           {BatchKeys{.text = epoch[i].text}, BatchKeys{.document = epoch[i].document}}) {
        if (key.text == kNoKey && key.document == kNoKey) continue;
        RC_ASSERT(CountIn(epoch, members, key) <= (CountIn(epoch, all, key) + full - 1) / full);
      }
    }
  }
}

// docs/sampling.md: 68 queries, two of which have one answer, in batches of 512.
TEST(Composition, TwoCopiesDoNotHalveAnEpochOfOneBatch) {
  std::vector<BatchKeys> epoch(68);
  epoch[3].document = epoch[40].document = 0;
  EXPECT_EQ(CountBatches(epoch, 512, Copies::kWhereTheyMust), 2U);
  EXPECT_EQ(CountBatches(epoch, 512, Copies::kRatherThanSmallBatches), 1U);
}

TEST(Composition, ConsecutivePartsWhereNothingIsShared) {
  const std::vector<BatchKeys> epoch(10);
  EXPECT_EQ(ComposeEvenly(epoch, {.batch = 4}, RandomStream(kStream)),
            (std::vector<uint32_t>{0, 0, 0, 0, 1, 1, 1, 2, 2, 2}));
}

// Only those that may not stay where the order has them are moved.
TEST(Composition, AFewDuplicatesMoveFewQueries) {
  std::vector<BatchKeys> epoch(1000);
  for (uint32_t i = 0; i < 50; ++i) epoch[20 * i] = epoch[20 * i + 1] = {.document = i};
  const std::vector<uint32_t> batch_of = ComposeEvenly(epoch, {.batch = 10}, RandomStream(kStream));
  size_t moved = 0;
  for (size_t i = 0; i < epoch.size(); ++i) moved += batch_of[i] != i / 10;
  EXPECT_GE(moved, 50U);
  EXPECT_LE(moved, 250U);
}

// Batches of similar length stay similar: a query that has to leave its batch finds one near it.
TEST(Composition, QueriesThatHaveToMoveStayNearWhereThatIsAskedFor) {
  std::vector<BatchKeys> epoch(3000);
  for (uint32_t i = 0; i < 100; ++i) epoch[30 * i] = epoch[30 * i + 1] = {.document = i};
  const auto far = [&](Refuge refuge) {
    const auto batch_of =
        ComposeEvenly(epoch, {.batch = 10, .refuge = refuge}, RandomStream(kStream));
    int count = 0;
    for (uint32_t i = 0; i < epoch.size(); ++i) {
      count += batch_of[i] > i / 10 + 8 || batch_of[i] + 8 < i / 10 ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(far(Refuge::kNear), 0);
  EXPECT_GT(far(Refuge::kAnywhere), 50);
}

TEST(Composition, LargePassesWithOneKeyForHalfOfThem) {
  std::vector<BatchKeys> epoch(100000);
  for (uint32_t i = 0; i < epoch.size(); ++i) {
    epoch[i] = {.text = i % 3 == 0 ? 0 : i % 1000, .document = i % 2 == 0 ? 0 : 1 + i % 700};
  }
  const size_t batches = CountBatches(epoch, 64);
  EXPECT_EQ(batches, 50000U);
  for (const auto& members :
       Members(ComposeEvenly(epoch, {.batch = 64}, RandomStream(kStream)), batches)) {
    ASSERT_EQ(members.size(), 2U);
    ASSERT_TRUE(NoKeyTwice(epoch, members));
  }
}

}  // namespace
}  // namespace tandem::sampling
