// Exact search that ranks documents by their best passages, against sorting all scores.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "data/texts/passage_groups.h"
#include "search/retrieval/exact.h"
#include "search/retrieval/integer_rows.h"
#include "support/tensors.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/process.h"

namespace tandem::search {
namespace {

// Documents of 1 to `most` passages.
data::PassageGroups SomeDocuments(size_t passages, size_t most, uint64_t seed) {
  RandomStream random({.seed = seed, .purpose = "test"});
  data::Texts texts;
  for (size_t d = 0; texts.size() < passages; ++d) {
    const size_t count = 1 + random.Below(most);
    for (size_t p = 1; p <= count && texts.size() < passages; ++p) {
      texts.Add("d" + std::to_string(d) + "#" + std::to_string(p), "");
    }
  }
  return data::GroupPassages(texts, "test");
}

struct Best {
  uint32_t document;
  uint32_t passage;
  float score;
};

std::vector<Best> BestByBruteForce(const tensor::Tensor& query, const tensor::Tensor& rows,
                                   const data::PassageGroups& groups) {
  std::vector<Best> best;
  for (uint32_t d = 0; d < groups.documents.size(); ++d) {
    Best one{d, 0, -std::numeric_limits<float>::infinity()};
    for (uint32_t p = groups.starts[d]; p < groups.starts[d + 1]; ++p) {
      const auto score = static_cast<float>(DotOf(rows[p], query));
      if (score > one.score) one = {d, p, score};
    }
    best.push_back(one);
  }
  std::sort(best.begin(), best.end(), [&](const Best& a, const Best& b) {
    return a.score != b.score ? a.score > b.score
                              : groups.documents.id(a.document) > groups.documents.id(b.document);
  });
  return best;
}

// Blocks and tiles end within documents, ties are many.
TEST(ExactSearchByDocument, FindsWhatSortingAllScoresFinds) {
  tensor::SetUpProcess(0);
  const tensor::Tensor queries = IntegerRows(70, 8, 2);
  for (const size_t most : {1, 3, 40, 3000}) {
    const data::PassageGroups groups = SomeDocuments(2500, most, most);
    const tensor::Tensor rows = IntegerRows(2500, 8, 1);
    for (const size_t k : {1, 10, 1000, 4000}) {
      for (const int64_t block : {2500, 7, 640}) {
        ExactSearch search(queries, k, groups);
        search.Watch(std::vector<std::vector<uint32_t>>(
            70, {0, static_cast<uint32_t>(groups.documents.size() - 1)}));
        for (int64_t first = 0; first < 2500; first += block) {
          search.Add(rows.narrow(0, first, std::min<int64_t>(2500 - first, block)));
        }
        const std::vector<QueryHits> found = search.Take();
        for (int64_t q = 0; q < 70; q += 23) {
          const std::vector<Best> want = BestByBruteForce(queries[q], rows, groups);
          const QueryHits& got = found[static_cast<size_t>(q)];
          ASSERT_EQ(got.hits.size(), std::min(k, want.size()));
          ASSERT_EQ(got.passages.size(), got.hits.size());
          for (size_t i = 0; i < got.hits.size(); ++i) {
            ASSERT_EQ(got.hits[i].document, want[i].document) << "most " << most << " rank " << i;
            ASSERT_EQ(got.passages[i], want[i].passage);
            ASSERT_EQ(got.hits[i].score, want[i].score);
          }
          for (const Best& one : want) {
            if (one.document == 0) {
              EXPECT_EQ(got.watched[0], one.score);
            }
            if (one.document + 1 == groups.documents.size()) {
              EXPECT_EQ(got.watched[1], one.score);
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tandem::search
