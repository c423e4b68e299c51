#include "search/retrieval/top_hits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "base/random.h"
#include "search/retrieval/integer_rows.h"

namespace tandem::search {
namespace {

std::vector<Hit> Search(const std::vector<float>& scores, size_t depth, size_t piece,
                        const HitOrder& order) {
  TopHits top(depth, scores.size());
  for (size_t first = 0; first < scores.size(); first += piece) {
    top.Offer(std::span(scores).subspan(first, std::min(piece, scores.size() - first)),
              static_cast<uint32_t>(first), order);
  }
  return top.Take(order);
}

// Scores rise, fall, or are random with many ties; pieces and depths of all sizes.
TEST(TopHits, AreThoseOfSortingAllScoresTiesIncluded) {
  const data::Texts texts = NamedTexts(1500);
  const HitOrder order(texts);
  RandomStream random({.seed = 1, .purpose = "top_hits_test"});
  for (const int kind : {0, 1, 2, 3}) {
    std::vector<float> scores;
    std::vector<Hit> want;
    for (uint32_t d = 0; d < texts.size(); ++d) {
      const auto place = static_cast<float>(d);
      scores.push_back(kind == 0   ? place
                       : kind == 1 ? -place
                       : kind == 2 ? 7
                                   : static_cast<float>(random.Below(20)));
      want.push_back({d, scores.back()});
    }
    std::sort(want.begin(), want.end(), order);
    for (const size_t depth : {0, 1, 10, 64, 100, 1499, 1500, 4000}) {
      for (const size_t piece : {1, 64, 1000, 1500}) {
        const std::vector<Hit> hits = Search(scores, depth, piece, order);
        ASSERT_EQ(hits.size(), std::min<size_t>(depth, 1500));
        for (size_t i = 0; i < hits.size(); ++i) {
          ASSERT_EQ(hits[i].document, want[i].document)
              << "scores " << kind << ", depth " << depth << ", pieces of " << piece;
          ASSERT_EQ(hits[i].score, want[i].score);
        }
      }
    }
  }
}

TEST(TopHits, AreBrokenByTheIdOfTheRowsDocument) {
  const data::Texts texts = NamedTexts(3);
  const std::vector<uint32_t> document_of_row = {2, 0, 1};
  const std::vector<Hit> hits = Search({1, 1, 1}, 2, 3, HitOrder(texts, document_of_row));
  EXPECT_EQ(hits[0].document, 0U);  // "d2"
  EXPECT_EQ(hits[1].document, 2U);  // "d1"
}

TEST(TopHits, ManyHitsThatScoreTheSameTakeNoMoreMemory) {
  const data::Texts texts = NamedTexts(100000);
  const HitOrder order(texts);
  const std::vector<float> scores(texts.size(), 1);
  const std::vector<Hit> hits = Search(scores, 3, 1000, order);
  EXPECT_EQ(texts.id(hits[0].document), "d99999");
  EXPECT_EQ(texts.id(hits[2].document), "d99997");
  EXPECT_LT(TopHits::Bytes(3, texts.size()), 1000U);
}

}  // namespace
}  // namespace tandem::search
