#include "index/choose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace tandem::index {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20, kGiB = uint64_t{1} << 30;

Choice Of(size_t rows, double recall, uint64_t memory) {
  return Choose({.rows = rows, .width = 384, .recall = recall, .memory = memory}, IndexKinds());
}

TEST(ChooseTest, TakesExactSearchWhileItIsFastEnough) {
  const Choice choice = Of(50'000, 0.95, kGiB);
  EXPECT_TRUE(choice.kind->exact) << choice.sentence;
  EXPECT_TRUE(Of(0, 0.95, kMiB).kind->exact);
  const std::string sentence = Of(3, 0.95, kMiB).sentence;
  EXPECT_THAT(sentence, testing::StartsWith("fp32 is the kind of index for 3 documents: a search "
                                            "holds 4.5 KiB in memory (--memory allows 1.0 MiB)"));
  EXPECT_THAT(sentence, testing::EndsWith("less than 0.1 ms a query on one thread"));
}

TEST(ChooseTest, TakesTheGraphWhereMemoryHoldsIt) {
  const Choice choice = Of(2'000'000, 0.95, 2 * kGiB);
  EXPECT_EQ(choice.kind->name, "hnsw") << choice.sentence;
  EXPECT_EQ(choice.params.Number("recall"), 0.95);
  EXPECT_EQ(choice.effort, 0);
}

TEST(ChooseTest, TakesListsOnDiskWhereMemoryHoldsNoGraph) {
  const Choice choice = Of(100'000'000, 0.95, 8 * kGiB);
  EXPECT_EQ(choice.kind->name, "ivf_pq") << choice.sentence;
  EXPECT_THAT(choice.sentence, testing::HasSubstr("hnsw takes "));
  EXPECT_THAT(choice.sentence, testing::StartsWith("ivf_pq (lists=16384, code_bytes=48"));
  EXPECT_LE(choice.kind->cost(100'000'000, 384, choice.params).resident_bytes, 8.0 * kGiB);
}

TEST(ChooseTest, NothingApproximateFindsEverything) {
  const Choice choice = Of(2'000'000, 1, 8 * kGiB);
  EXPECT_TRUE(choice.kind->exact) << choice.sentence;
}

TEST(ChooseTest, SaysWhatCanBeHadWhereNothingFits) {
  try {
    Of(100'000'000, 1, 8 * kGiB);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("finds 1 of the best 10 of 100000000 documents"),
                               testing::HasSubstr("in 8.0 GiB of memory"),
                               testing::HasSubstr("fp32 finds all in 143.1 GiB"),
                               testing::HasSubstr("ivf_pq up to 0.")));
  }
}

}  // namespace
}  // namespace tandem::index
