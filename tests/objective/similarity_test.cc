#include "objective/similarity.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "base/error.h"
#include "support/tensors.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/tensor.h"

namespace tandem::objective {
namespace {

tensor::Tensor Rows(std::initializer_list<double> values) {
  return MakeTensor({static_cast<int64_t>(values.size()) / 2, 2}, values).set_requires_grad(true);
}

TEST(SimilarityScores, AreCosinesOrDotProductsInDouble) {
  const tensor::Tensor queries = Rows({3, 4});
  const tensor::Tensor documents = Rows({1, 0, 0, 2, 6, 8});
  const tensor::Tensor dot = SimilarityScores(queries, documents, "dot").query_document;
  EXPECT_TRUE(AreEqual(dot, MakeTensor({1, 3}, {3, 8, 50}, tensor::kDouble)));
  const tensor::Tensor cosine = SimilarityScores(queries, documents, "cosine").query_document;
  EXPECT_EQ(cosine.dtype(), tensor::kDouble);
  EXPECT_LE(LargestDifference(cosine, MakeTensor({1, 3}, {0.6, 0.8, 1}, tensor::kDouble)), 1e-15);
}

TEST(SimilarityScores, OfAZeroVectorAreZeroWithoutGradient) {
  const tensor::Tensor queries = Rows({0, 0, 1, 1});
  const tensor::Tensor documents = Rows({1, 2});
  const Scores scores = SimilarityScores(queries, documents, "cosine");
  EXPECT_EQ(scores.query_document[0][0].item<double>(), 0);
  tensor::Sum(scores.query_document).backward();
  const std::vector<double> gradient = ElementsOf(queries.grad());
  EXPECT_EQ(gradient[0], 0);
  EXPECT_EQ(gradient[1], 0);
  EXPECT_GT(NormOf(queries.grad()[1]), 0);
  EXPECT_LT(NormOf(queries.grad()), 10);  // and finite
}

TEST(SimilarityScores, ComparePairedDocumentsInTheOrderOfQueries) {
  const tensor::Tensor queries = Rows({1, 0, 0, 1});
  const tensor::Tensor documents = Rows({5, 0, 0, 1, 1, 1});
  const tensor::Tensor positive = MakeTensor({2}, {2, 0}, tensor::kLong);
  const Scores scores = SimilarityScores(queries, documents, positive, "dot",
                                         {.query_query = true, .document_document = true});
  EXPECT_TRUE(AreEqual(scores.query_query, MakeTensor({2, 2}, {1, 0, 0, 1}, tensor::kDouble)));
  EXPECT_TRUE(
      AreEqual(scores.document_document, MakeTensor({2, 2}, {2, 5, 5, 25}, tensor::kDouble)));
}

// The rows of one process, against the queries and paired documents of all.
TEST(SimilarityScores, OfAPartOfABatchCompareItWithAllOfIt) {
  const tensor::Tensor all = Rows({1, 0, 0, 1, 2, 3});
  const tensor::Tensor documents = Rows({5, 0, 0, 1, 1, 1});
  const tensor::Tensor positives = MakeTensor({3}, {1, 2, 0}, tensor::kLong);
  const Scores scores =
      SimilarityScores(all.narrow(0, 1, 1), documents, positives.narrow(0, 1, 1), "dot",
                       {.query_query = true, .document_document = true}, {all, positives});
  EXPECT_TRUE(AreEqual(scores.query_query, MakeTensor({1, 3}, {0, 1, 3}, tensor::kDouble)));
  EXPECT_TRUE(AreEqual(scores.document_document, MakeTensor({1, 3}, {1, 2, 5}, tensor::kDouble)));
}

TEST(SimilarityScores, RefuseAnUnknownKind) {
  EXPECT_THROW(SimilarityScores(Rows({1, 0}), Rows({1, 0}), "euclid"), UsageError);
}

}  // namespace
}  // namespace tandem::objective
