#include "sampling/composition/draw_tokens.h"

#include <gtest/gtest.h>

#include <vector>

#include "sampling/sampling_worlds.h"

namespace tandem::sampling {
namespace {

// A query brings the longest of what its extra documents are drawn from.
TEST(DrawTokens, AtMostCountsFurtherDocuments) {
  Examples examples(1, {0, 1, 2, 3, 4});
  examples.Add(9, std::vector<Judged>{{0, 1}, {1, 1}, {2, 0}, {3, 0}, {4, 0.5}});
  const std::vector<uint32_t> queries = {3}, documents = {10, 20, 100, 200, 1000};
  const Pairs pairs(examples, false), graded(examples, true);
  const auto at_most = [&](const Pairs& all, size_t negatives, uint32_t own) {
    return DrawTokens(all, {queries, documents}, negatives).AtMost({0, own});
  };
  EXPECT_EQ(at_most(pairs, 0, 0), 13U);
  EXPECT_EQ(at_most(pairs, 1, 0), 213U);
  EXPECT_EQ(at_most(pairs, 2, 1), 323U);
  EXPECT_EQ(at_most(pairs, 9, 1), 323U);
  EXPECT_EQ(at_most(graded, 1, 0), 1013U);
  EXPECT_EQ(at_most(graded, 1, 4), 1203U);
  EXPECT_EQ(at_most(graded, 9, 4), 1333U);
  EXPECT_EQ(DrawTokens(pairs, {queries, documents}, 2, true).AtMost({0, 0}), 2013U);
  EXPECT_EQ(DrawTokens(pairs, {queries, documents}, 0, true).AtMost({0, 0}), 13U);
  const LongDraw longest = DrawTokens(pairs, {queries, documents}, 1).Longest();
  EXPECT_EQ(longest.draw.document, 1U);
  EXPECT_EQ(longest.tokens, 223U);
  EXPECT_EQ(DrawTokens(graded, {queries, documents}, 2).Longest().tokens, 1303U);
}

}  // namespace
}  // namespace tandem::sampling
