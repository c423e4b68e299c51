#include "search/retrieve.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <string>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "model/tiny_model.h"
#include "search/kept_embeddings.h"
#include "tensor/process.h"

namespace tandem::search {
namespace {

class RetrieveTest : public testing::Test {
 protected:
  void SetUp() override {
    tensor::SetUpProcess(0);
    WriteTinyModel(folder_.path() / "model");
    model_ = model::DualEncoder::Load(folder_.path() / "model");
    for (const std::string& a : TinyWords()) {
      for (const char* b : {"red", "fast", "music", "zebra"}) {
        dataset_.documents.Add(a + "-" + b, a + " " + b);
      }
    }
    dataset_.queries.Add("unjudged", "blue");
    dataset_.queries.Add("q1", "alpha red");
    dataset_.queries.Add("q2", "game zebra");
    dataset_.judged = {{1, {{0, 2.0}, {5, 1.0}}}, {2, {{63, 1.0}}}};
  }
  TemporaryFolder folder_;
  std::unique_ptr<model::DualEncoder> model_;
  data::Dataset dataset_;
};

TEST_F(RetrieveTest, RanksTheSameTextFirst) {
  const Retrieved retrieved = Retrieve(*model_, dataset_, {.top_k = 5, .progress = false});
  ASSERT_EQ(retrieved.run.queries().size(), 2U);
  const data::QueryResults* first = retrieved.run.Find("q1");
  ASSERT_NE(first, nullptr);
  ASSERT_EQ(first->results.size(), 5U);
  EXPECT_EQ(first->results[0].document, "alpha-red");
  EXPECT_NEAR(first->results[0].score, 1.0, 1e-6);
  EXPECT_EQ(retrieved.run.Find("q2")->results[0].document, "game-zebra");
  EXPECT_TRUE(retrieved.samples.empty());
}

TEST_F(RetrieveTest, SamplesHoldAllPositivesAndTheBestOthers) {
  const Retrieved retrieved =
      Retrieve(*model_, dataset_, {.top_k = 1, .relevance_level = 1, .progress = false});
  ASSERT_EQ(retrieved.samples.size(), 2U);
  const eval::QuerySamples& samples = retrieved.samples[0];
  EXPECT_EQ(samples.query, "q1");
  EXPECT_EQ(samples.positives.size(), 2U);
  EXPECT_EQ(samples.negatives.size(), 62U);  // the corpus has fewer than 500
  EXPECT_EQ(samples.missing_positives, 0U);
  // At level 2 the second document is no positive any more.
  const Retrieved strict =
      Retrieve(*model_, dataset_, {.top_k = 1, .relevance_level = 2, .progress = false});
  EXPECT_EQ(strict.samples[0].positives.size(), 1U);
  EXPECT_EQ(strict.samples[0].negatives.size(), 63U);
}

TEST_F(RetrieveTest, KeptEmbeddingsGiveTheSameRunAndAreMadeAgainForOtherTexts) {
  const RetrieveOptions options{
      .top_k = 3, .progress = false, .embeddings = folder_.path() / "kept"};
  const Retrieved made = Retrieve(*model_, dataset_, options);
  const std::string bytes = ReadFile(folder_.path() / "kept" / "embeddings.npy");
  const Retrieved kept = Retrieve(*model_, dataset_, options);
  EXPECT_EQ(made.run.Find("q1")->results[2].document, kept.run.Find("q1")->results[2].document);
  EXPECT_EQ(made.run.Find("q1")->results[2].score, kept.run.Find("q1")->results[2].score);
  dataset_.documents.Add("new", "alpha red alpha");
  const Retrieved again = Retrieve(*model_, dataset_, options);
  EXPECT_NE(bytes, ReadFile(folder_.path() / "kept" / "embeddings.npy"));
}

TEST_F(RetrieveTest, AnotherModelIsAnotherSource) {
  const std::string before =
      SourceOf(*model_, model::TextKind::kDocument, dataset_.documents, tensor::Precision::kFp32);
  model_->Parameters()[7].value.data_ptr<float>()[0] += 1e-6F;
  EXPECT_NE(before, SourceOf(*model_, model::TextKind::kDocument, dataset_.documents,
                             tensor::Precision::kFp32));
}

TEST_F(RetrieveTest, FreeTextQueriesFindDocuments) {
  const std::vector<std::string> queries = {"photo fast"};
  const std::vector<QueryHits> hits =
      RetrieveForTexts(*model_, dataset_.documents, queries, {.top_k = 2, .progress = false});
  ASSERT_EQ(hits[0].hits.size(), 2U);
  EXPECT_EQ(dataset_.documents.id(hits[0].hits[0].document), "photo-fast");
}

}  // namespace
}  // namespace tandem::search
