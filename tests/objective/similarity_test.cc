#include "objective/similarity.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace tandem::objective {
namespace {

at::Tensor Rows(std::initializer_list<float> values) {
  return at::tensor(std::vector<float>(values), at::kFloat).view({-1, 2}).set_requires_grad(true);
}

TEST(SimilarityScores, AreCosinesOrDotProductsInDouble) {
  const at::Tensor queries = Rows({3, 4});
  const at::Tensor documents = Rows({1, 0, 0, 2, 6, 8});
  const at::Tensor dot = SimilarityScores(queries, documents, "dot").query_document;
  EXPECT_EQ(dot.scalar_type(), at::kDouble);
  EXPECT_TRUE(dot.equal(at::tensor({3.0, 8.0, 50.0}, at::kDouble).view({1, 3})));
  const at::Tensor cosine = SimilarityScores(queries, documents, "cosine").query_document;
  EXPECT_TRUE(cosine.allclose(at::tensor({0.6, 0.8, 1.0}, at::kDouble).view({1, 3}), 0, 1e-15));
}

TEST(SimilarityScores, OfAZeroVectorAreZeroWithoutGradient) {
  const at::Tensor queries = Rows({0, 0, 1, 1});
  const at::Tensor documents = Rows({1, 2});
  const Scores scores = SimilarityScores(queries, documents, "cosine");
  EXPECT_EQ(scores.query_document[0][0].item<double>(), 0);
  scores.query_document.sum().backward();
  EXPECT_TRUE(queries.grad().isfinite().all().item<bool>());
  EXPECT_EQ(queries.grad()[0].abs().sum().item<float>(), 0);
  EXPECT_GT(queries.grad()[1].abs().sum().item<float>(), 0);
}

TEST(SimilarityScores, ComparePairedDocumentsInTheOrderOfQueries) {
  const at::Tensor queries = Rows({1, 0, 0, 1});
  const at::Tensor documents = Rows({5, 0, 0, 1, 1, 1});
  const at::Tensor positive = at::tensor(std::vector<int64_t>{2, 0}, at::kLong);
  const Scores scores = SimilarityScores(queries, documents, positive, "dot",
                                         {.query_query = true, .document_document = true});
  EXPECT_TRUE(
      scores.query_query.equal(at::tensor({1.0, 0.0, 0.0, 1.0}).view({2, 2}).to(at::kDouble)));
  EXPECT_TRUE(scores.document_document.equal(
      at::tensor({2.0, 5.0, 5.0, 25.0}).view({2, 2}).to(at::kDouble)));
}

TEST(SimilarityScores, RefuseAnUnknownKind) {
  EXPECT_THROW(SimilarityScores(Rows({1, 0}), Rows({1, 0}), "euclid"), UsageError);
}

}  // namespace
}  // namespace tandem::objective
