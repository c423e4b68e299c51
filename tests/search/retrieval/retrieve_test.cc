#include "search/retrieval/retrieve.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/files.h"
#include "search/encoding/encoding_source.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"
#include "support/tiny_model.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/process.h"

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
  const Retrieved retrieved = Retrieve(*model_, dataset_, {.top_k = 5, .report = false});
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
      Retrieve(*model_, dataset_, {.top_k = 1, .relevance_level = 1, .report = false});
  ASSERT_EQ(retrieved.samples.size(), 2U);
  const eval::QuerySamples& samples = retrieved.samples[0];
  EXPECT_EQ(samples.query, "q1");
  EXPECT_EQ(samples.positives.size(), 2U);
  EXPECT_EQ(samples.negatives.size(), 62U);  // the corpus has fewer than 500
  EXPECT_EQ(samples.missing_positives, 0U);
  // At level 2 the second document is no positive any more.
  const Retrieved strict =
      Retrieve(*model_, dataset_, {.top_k = 1, .relevance_level = 2, .report = false});
  EXPECT_EQ(strict.samples[0].positives.size(), 1U);
  EXPECT_EQ(strict.samples[0].negatives.size(), 63U);
}

TEST_F(RetrieveTest, KeptEmbeddingsGiveTheSameRunAndAreMadeAgainForOtherTexts) {
  const RetrieveOptions options{.top_k = 3, .report = false, .embeddings = folder_.path() / "kept"};
  const Retrieved made = Retrieve(*model_, dataset_, options);
  const std::string bytes = ReadFile(folder_.path() / "kept" / "embeddings.npy");
  const Retrieved kept = Retrieve(*model_, dataset_, options);
  EXPECT_EQ(made.run.Find("q1")->results[2].document, kept.run.Find("q1")->results[2].document);
  EXPECT_EQ(made.run.Find("q1")->results[2].score, kept.run.Find("q1")->results[2].score);
  dataset_.documents.Add("new", "alpha red alpha");
  const Retrieved again = Retrieve(*model_, dataset_, options);
  EXPECT_NE(bytes, ReadFile(folder_.path() / "kept" / "embeddings.npy"));
}

// What a run's validation needs: prompts of single texts, small windows, and the same hits as a
// search that multiplies everything with everything.
TEST_F(RetrieveTest, PromptsOfTextsAndWindowsGiveTheHitsOfANaiveSearch) {
  const auto query_prompt = [](size_t i) { return std::string_view(i == 0 ? "fast " : ""); };
  const auto document_prompt = [](size_t i) { return std::string_view(i % 3 == 0 ? "blue " : ""); };
  const EncodeOptions windows{.window_texts = 7};
  std::vector<double> shares;
  const Retrieved retrieved =
      Retrieve(*model_, dataset_,
               {.top_k = 64,
                .relevance_level = 1,
                .encode = windows,
                .query_prompt = query_prompt,
                .document_prompt = document_prompt,
                .report = false,
                .progress = [&](double share) { shares.push_back(share); }});
  EncodeOptions of_queries = windows, of_documents = windows;
  of_queries.prompt = [&](size_t i) {  // text 0 is not judged
    return i == 0 ? std::string_view() : query_prompt(i - 1);
  };
  of_documents.prompt = document_prompt;
  const tensor::Tensor queries =
      RowsFor(EncodeAll(*model_, model::TextKind::kQuery, dataset_.queries, of_queries), "cosine");
  const tensor::Tensor documents = RowsFor(
      EncodeAll(*model_, model::TextKind::kDocument, dataset_.documents, of_documents), "cosine");
  for (const data::JudgedQuery& judged : dataset_.judged) {
    const auto found = retrieved.run.Find(dataset_.queries.id(judged.query))->results;
    ASSERT_EQ(found.size(), dataset_.documents.size());
    for (size_t rank = 0; rank < found.size(); ++rank) {
      const uint32_t document = *dataset_.documents.Find(found[rank].document);
      const float score = static_cast<float>(DotOf(queries[judged.query], documents[document]));
      EXPECT_NEAR(found[rank].score, score, 1e-5);
      if (rank > 0) {
        EXPECT_LE(found[rank].score, found[rank - 1].score);
      }
    }
  }
  EXPECT_EQ(retrieved.samples[0].positives.size(), 2U);
  ASSERT_EQ(shares.size(), 10U);  // 64 documents in windows of 7
  EXPECT_EQ(shares.front(), 0);
  EXPECT_EQ(shares.back(), 63.0 / 64);
}

TEST_F(RetrieveTest, ProgressMayStopIt) {
  struct Stop {};
  size_t calls = 0;
  const RetrieveOptions options{
      .encode = {.window_texts = 8}, .report = false, .progress = [&calls](double) {
        if (++calls == 3) throw Stop();
      }};
  EXPECT_THROW(Retrieve(*model_, dataset_, options), Stop);
  EXPECT_EQ(calls, 3U);
}

// Queries and documents come from the cache, copies of a text from one row.
TEST_F(RetrieveTest, TheCacheGivesTheSameHits) {
  dataset_.documents.Add("copy", "alpha red");
  const RetrieveOptions plain{.top_k = 65, .encode = {.window_texts = 16}, .report = false};
  RetrieveOptions cached = plain;
  cached.cache = folder_.path() / "cache";
  const Retrieved expected = Retrieve(*model_, dataset_, plain);
  for (const char* time : {"made", "found"}) {
    SCOPED_TRACE(time);
    const Retrieved got = Retrieve(*model_, dataset_, cached);
    for (const char* query : {"q1", "q2"}) {
      const auto& want = expected.run.Find(query)->results;
      const auto& have = got.run.Find(query)->results;
      ASSERT_EQ(have.size(), want.size());
      for (size_t rank = 0; rank < want.size(); ++rank) {
        EXPECT_EQ(have[rank].document, want[rank].document);
        EXPECT_NEAR(have[rank].score, want[rank].score, 1e-6);
      }
    }
    const auto& first = got.run.Find("q1")->results;
    EXPECT_EQ(first[0].document, "copy");  // ties by id, descending
    EXPECT_EQ(first[1].document, "alpha-red");
    EXPECT_EQ(first[0].score, first[1].score);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path() / "cache/embeddings"),
                          std::filesystem::directory_iterator()),
            2);
}

TEST_F(RetrieveTest, AnotherModelIsAnotherSource) {
  const embeddings::Provenance before =
      KeptSource(*model_, model::TextKind::kDocument, dataset_.documents, tensor::Precision::kFp32);
  model_->Parameters()[7].value.data_ptr<float>()[0] += 1e-6F;
  EXPECT_NE(before, KeptSource(*model_, model::TextKind::kDocument, dataset_.documents,
                               tensor::Precision::kFp32));
}

TEST_F(RetrieveTest, FreeTextQueriesFindDocuments) {
  const std::vector<std::string> queries = {"photo fast"};
  const std::vector<QueryHits> hits =
      RetrieveForTexts(*model_, dataset_.documents, queries, {.top_k = 2, .report = false});
  ASSERT_EQ(hits[0].hits.size(), 2U);
  EXPECT_EQ(dataset_.documents.id(hits[0].hits[0].document), "photo-fast");
}

}  // namespace
}  // namespace tandem::search
