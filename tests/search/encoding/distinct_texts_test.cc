#include "search/encoding/distinct_texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tandem::search {
namespace {

DistinctTexts Find(const std::vector<std::string>& texts) {
  return FindDistinct(texts.size(), [&](size_t i) { return std::string_view(texts[i]); });
}

TEST(DistinctTexts, NumberTextsInTheOrderOfTheirFirstOccurrence) {
  const DistinctTexts found = Find({"b", "a", "b", "", "a", "c", ""});
  EXPECT_THAT(found.row_of, testing::ElementsAre(0, 1, 0, 2, 1, 3, 2));
  EXPECT_THAT(found.first, testing::ElementsAre(0, 1, 3, 5));
}

TEST(DistinctTexts, NoTextsAreNone) {
  EXPECT_EQ(Find({}).size(), 0U);
  EXPECT_TRUE(Find({}).row_of.empty());
}

TEST(DistinctTexts, TheHashKnowsTextsAndTheirOrderAndNoCopies) {
  EXPECT_EQ(Find({"a", "b"}).hash, Find({"a", "a", "b", "a"}).hash);
  EXPECT_NE(Find({"a", "b"}).hash, Find({"b", "a"}).hash);
  EXPECT_NE(Find({"a", "b"}).hash, Find({"a", "b", "c"}).hash);
  EXPECT_NE(Find({"ab"}).hash, Find({"a", "b"}).hash);
}

}  // namespace
}  // namespace tandem::search
