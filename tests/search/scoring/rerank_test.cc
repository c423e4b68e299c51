#include "search/scoring/rerank.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "search/retrieval/retrieve.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"
#include "tensor/machine/process.h"

namespace tandem::search {
namespace {

class RerankTest : public testing::Test {
 protected:
  RerankTest() {
    tensor::SetUpProcess(0);
    WriteTinyModel(folder_.path() / "model");
    model_ = model::DualEncoder::Load(folder_.path() / "model");
    for (const std::string& a : TinyWords()) {
      for (const char* b : {"red", "fast", "music"}) {
        dataset_.documents.Add(a + "-" + b, a + " " + b);
      }
    }
    for (int q = 0; q < 3; ++q) dataset_.queries.Add("q" + std::to_string(q), "alpha fast music");
    dataset_.judged = {{2, {{0, 1.0}}}, {0, {{5, 1.0}}}, {1, {{7, 1.0}}}};
  }

  TemporaryFolder folder_;
  std::unique_ptr<model::DualEncoder> model_;
  data::Dataset dataset_;
};

// The ranking of the whole corpus with everything that is not listed taken out.
TEST_F(RerankTest, IsTheFullRankingOfTheListedDocuments) {
  const data::Candidates candidates{.documents = {{9, 3, 30, 4}, {0, 1, 2, 40, 41}, {}}};
  const data::Run run = Rerank(*model_, dataset_, candidates, {});
  const Retrieved full = Retrieve(*model_, dataset_, {.top_k = 1000, .report = false});
  EXPECT_EQ(run.queries().size(), 2U);
  EXPECT_EQ(run.Find("q1"), nullptr);  // without candidates
  const auto by_score = [](const data::ScoredDocument& a, const data::ScoredDocument& b) {
    return std::pair(a.score, a.document) > std::pair(b.score, b.document);
  };
  for (size_t q = 0; q < 2; ++q) {
    const std::string_view id = dataset_.queries.id(dataset_.judged[q].query);
    std::vector<data::ScoredDocument> expected;
    for (const data::ScoredDocument& hit : full.run.Find(id)->results) {
      const uint32_t document = *dataset_.documents.Find(hit.document);
      const std::vector<uint32_t>& listed = candidates.documents[q];
      if (std::find(listed.begin(), listed.end(), document) != listed.end()) {
        expected.push_back(hit);
      }
    }
    ASSERT_NE(run.Find(id), nullptr);
    std::vector<data::ScoredDocument> got = run.Find(id)->results;
    std::sort(got.begin(), got.end(), by_score);
    ASSERT_EQ(got.size(), candidates.documents[q].size());
    for (size_t rank = 0; rank < got.size(); ++rank) {
      EXPECT_EQ(got[rank].document, expected[rank].document);
      EXPECT_NEAR(got[rank].score, expected[rank].score, 1e-6);
    }
  }
}

TEST_F(RerankTest, FindsItsEmbeddingsInTheCache) {
  const data::Candidates candidates{.documents = {{9, 3}, {3}, {1}}};
  const CacheOptions cache{.folder = folder_.path() / "cache"};
  const data::Run made = Rerank(*model_, dataset_, candidates, cache);
  const auto files = [&] {
    const std::filesystem::directory_iterator first(folder_.path() / "cache" / "embeddings");
    return std::distance(first, std::filesystem::directory_iterator());
  };
  EXPECT_EQ(files(), 2);  // of queries and of documents
  const data::Run found = Rerank(*model_, dataset_, candidates, cache);
  EXPECT_EQ(files(), 2);
  EXPECT_EQ(made.Find("q2")->results[0].score, found.Find("q2")->results[0].score);
}

}  // namespace
}  // namespace tandem::search
