#include "search/retrieval/view_rows.h"

#include <gtest/gtest.h>

#include <string>

#include "search/retrieval/retrieve.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"
#include "support/tiny_model.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/process.h"

namespace tandem::search {
namespace {

class ViewRowsTest : public testing::Test {
 protected:
  void SetUp() override {
    tensor::SetUpProcess(0);
    WriteTinyModel(folder_.path() / "model");
    model_ = model::DualEncoder::Load(folder_.path() / "model");
    dataset_.documents.Add("d0", "alpha red");
    dataset_.documents.Add("d1", "game zebra");
    dataset_.documents.Add("d2", "music");
    dataset_.documents.Add("d3", "game zebra");  // the text of d1
    dataset_.queries.Add("q0", "blue");
    dataset_.queries.Add("q1", "alpha red");
    dataset_.queries.Add("q2", "game zebra");
    dataset_.judged = {{1, {{2, 1.0}, {1, 2.0}, {0, 2.0}}}, {0, {{2, 0.0}}}, {2, {{3, 1.0}}}};
    for (const auto& [query, best] : {std::pair("q1", "d2"), {"q0", "d0"}, {"q2", "d3"}}) {
      data::QueryResults& results = run_.AddQuery(query);
      results.results = {{"d1", 0.5}, {best, 0.7}, {"d0", 0.1}};
    }
  }
  tensor::Tensor Encoded(model::TextKind kind, const std::string& text) {
    data::Texts texts;
    texts.Add("text", text);
    return EncodeAll(*model_, kind, texts, {})[0];
  }
  // Expects the row to be the embedding of the text, which other texts of its batch change by
  // rounding only.
  void ExpectRow(const tensor::Tensor& row, model::TextKind kind, const std::string& text) {
    EXPECT_LT(LargestDifference(row, Encoded(kind, text)), 1e-6) << text;
  }

  TemporaryFolder folder_;
  std::unique_ptr<model::DualEncoder> model_;
  data::Dataset dataset_;
  data::Run run_;
};

TEST_F(ViewRowsTest, QueriesTheirNearestDocumentsAndTheirPositives) {
  using model::TextKind;
  const ViewEmbeddings found = EncodeForViews(*model_, dataset_, run_, {});
  EXPECT_EQ(found.judged, (std::vector<uint32_t>{0, 1, 2}));
  ExpectRow(found.queries[0], TextKind::kQuery, "alpha red");
  ExpectRow(found.queries[1], TextKind::kQuery, "blue");
  ExpectRow(found.queries[2], TextKind::kQuery, "game zebra");
  ExpectRow(found.nearest[0], TextKind::kDocument, "music");
  ExpectRow(found.nearest[1], TextKind::kDocument, "alpha red");
  ExpectRow(found.nearest[2], TextKind::kDocument, "game zebra");
  // q1's is the positive of the highest grade that comes first in the corpus; q0 has none.
  EXPECT_EQ(found.positive_queries, (std::vector<uint32_t>{0, 2}));
  ASSERT_EQ(found.positives.size(0), 2);
  ExpectRow(found.positives[0], TextKind::kDocument, "alpha red");
  ExpectRow(found.positives[1], TextKind::kDocument, "game zebra");
  const eval::ViewRows rows = found.rows();
  EXPECT_EQ(rows.queries.size(), 3);
  EXPECT_EQ(rows.positives.size(), 2);
  EXPECT_EQ(rows.queries.width, static_cast<size_t>(model_->embedding_width()));
}

TEST_F(ViewRowsTest, TheGradeDecidesWhatIsAPositive) {
  const ViewEmbeddings found = EncodeForViews(*model_, dataset_, run_, {.relevance_level = 3});
  EXPECT_TRUE(found.positive_queries.empty());
  EXPECT_EQ(found.rows().positives.size(), 0);
  EXPECT_FALSE(eval::MakeEmbeddingViews(found.rows(), {}).centroid_gap.has_value());
}

TEST_F(ViewRowsTest, SamplesQueriesThatHaveResults) {
  data::Run run;
  run.AddQuery("q1").results = {{"d0", 1.0}};
  run.AddQuery("q2").results = {{"d1", 1.0}};
  run.AddQuery("q0");
  EXPECT_EQ(EncodeForViews(*model_, dataset_, run, {}).judged, (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(EncodeForViews(*model_, dataset_, run, {.most_queries = 1}).queries.size(0), 1);
}

TEST_F(ViewRowsTest, OfEqualScoresTheGreaterIdRanksFirst) {
  data::Run run;
  run.AddQuery("q1").results = {{"d0", 1.0}, {"d2", 1.0}, {"d1", 1.0}};
  const ViewEmbeddings found = EncodeForViews(*model_, dataset_, run, {});
  ExpectRow(found.nearest[0], model::TextKind::kDocument, "music");
}

}  // namespace
}  // namespace tandem::search
