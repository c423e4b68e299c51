#include "search/retrieval/exact.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "search/retrieval/integer_rows.h"
#include "support/tensors.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/process.h"

namespace tandem::search {
namespace {

// The expected hits: sorts all scores, which the search itself never holds at once.
std::vector<Hit> BruteForce(const tensor::Tensor& query, const tensor::Tensor& documents,
                            const data::Texts& texts) {
  std::vector<Hit> hits;
  for (int64_t d = 0; d < documents.size(0); ++d) {
    hits.push_back({static_cast<uint32_t>(d), static_cast<float>(DotOf(documents[d], query))});
  }
  std::sort(hits.begin(), hits.end(), [&](const Hit& a, const Hit& b) {
    return a.score != b.score ? a.score > b.score : texts.id(a.document) > texts.id(b.document);
  });
  return hits;
}

// All documents in one block.
std::vector<QueryHits> ExactTopK(const tensor::Tensor& queries, const tensor::Tensor& documents,
                                 size_t k, const data::Texts& texts) {
  ExactSearch search(queries, k, texts);
  search.Add(documents);
  return search.Take();
}

TEST(ExactSearch, FindsWhatSortingAllScoresFindsTiesIncluded) {
  tensor::SetUpProcess(0);
  const data::Texts texts = NamedTexts(2500);
  const tensor::Tensor documents = IntegerRows(2500, 16, 1), queries = IntegerRows(70, 16, 2);
  for (const size_t k : {size_t{1}, size_t{10}, size_t{1000}, size_t{4000}}) {
    const std::vector<QueryHits> found = ExactTopK(queries, documents, k, texts);
    ASSERT_EQ(found.size(), 70U);
    for (int64_t q = 0; q < 70; q += 23) {
      const std::vector<Hit> want = BruteForce(queries[q], documents, texts);
      const std::vector<Hit>& got = found[static_cast<size_t>(q)].hits;
      ASSERT_EQ(got.size(), std::min<size_t>(k, 2500));
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i].document, want[i].document) << "query " << q << " rank " << i;
        ASSERT_EQ(got[i].score, want[i].score);
      }
    }
  }
}

TEST(ExactSearch, BlocksDoNotChangeTheResult) {
  const data::Texts texts = NamedTexts(300);
  const tensor::Tensor documents = IntegerRows(300, 8, 3), queries = IntegerRows(5, 8, 4);
  ExactSearch search(queries, 7, texts);
  for (int64_t first = 0; first < 300; first += 64) {
    search.Add(documents.narrow(0, first, std::min<int64_t>(300 - first, 64)));
  }
  const std::vector<QueryHits> blocks = search.Take();
  const std::vector<QueryHits> whole = ExactTopK(queries, documents, 7, texts);
  for (size_t q = 0; q < 5; ++q) {
    for (size_t i = 0; i < 7; ++i) {
      EXPECT_EQ(blocks[q].hits[i].document, whole[q].hits[i].document);
    }
  }
}

TEST(ExactSearch, KeepsScoresOfWatchedDocumentsWhateverTheirRank) {
  const data::Texts texts = NamedTexts(2000);
  const tensor::Tensor documents = IntegerRows(2000, 8, 5), queries = IntegerRows(2, 8, 6);
  ExactSearch search(queries, 1, texts);
  search.Watch({{0, 3, 1999}, {}});
  search.Add(documents);
  const std::vector<QueryHits> found = search.Take();
  ASSERT_EQ(found[0].watched.size(), 3U);
  EXPECT_EQ(found[0].watched[1], static_cast<float>(DotOf(queries[0], documents[3])));
  EXPECT_EQ(found[0].watched[2], static_cast<float>(DotOf(queries[0], documents[1999])));
  EXPECT_TRUE(found[1].watched.empty());
}

TEST(ExactSearch, AScoreThatIsNoNumberIsAnError) {
  const data::Texts texts = NamedTexts(3);
  const tensor::Tensor documents = IntegerRows(3, 8, 7);
  documents.data_ptr<float>()[9] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(ExactTopK(tensor::Full({1, 8}, 1, tensor::kFloat), documents, 2, texts),
               NumericError);
}

}  // namespace
}  // namespace tandem::search
