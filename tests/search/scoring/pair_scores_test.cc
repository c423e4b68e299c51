#include "search/scoring/pair_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "tensor/core/make.h"
#include "tensor/core/parallel.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/process.h"

namespace tandem::search {
namespace {

using testing::ElementsAre;

using Lists = std::vector<std::vector<uint32_t>>;

// RowLists with their own memory.
struct OwnedLists {
  explicit OwnedLists(const Lists& lists) {
    for (const auto& list : lists) {
      rows.insert(rows.end(), list.begin(), list.end());
      starts.push_back(rows.size());
    }
  }
  RowLists lists() const { return {starts, rows}; }
  std::vector<size_t> starts = {0};
  std::vector<uint32_t> rows;
};

tensor::Tensor Matrix(const std::vector<std::vector<float>>& rows) {
  tensor::Tensor matrix = tensor::Zeros(
      {static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows[0].size())}, tensor::kFloat);
  for (size_t r = 0; r < rows.size(); ++r) {
    std::copy(rows[r].begin(), rows[r].end(), matrix.data_ptr<float>() + r * rows[0].size());
  }
  return matrix;
}

tensor::Tensor RandomMatrix(int64_t rows, int64_t columns, uint32_t rank) {
  tensor::Tensor matrix = tensor::Zeros({rows, columns}, tensor::kFloat);
  RandomStream stream({.seed = 7, .purpose = "matrix", .rank = rank});
  for (int64_t i = 0; i < matrix.numel(); ++i) {
    matrix.data_ptr<float>()[i] = static_cast<float>(stream.Uniform() - 0.5);
  }
  return matrix;
}

double Cosine(const tensor::Tensor& a, size_t i, const tensor::Tensor& b, size_t j) {
  const auto width = static_cast<size_t>(a.size(1));
  const float* x = a.data_ptr<float>() + i * width;
  const float* y = b.data_ptr<float>() + j * width;
  double dot = 0, xx = 0, yy = 0;
  for (size_t c = 0; c < width; ++c) {
    dot += double{x[c]} * y[c];
    xx += double{x[c]} * x[c];
    yy += double{y[c]} * y[c];
  }
  return dot / std::sqrt(xx * yy);
}

class PairScores : public testing::Test {
 protected:
  void SetUp() override { tensor::SetUpProcess(2); }
};

TEST_F(PairScores, CosinesOfPairsInTheirOrder) {
  const tensor::Tensor queries = Matrix({{1, 0}, {3, 4}});
  const tensor::Tensor documents = Matrix({{0, 2}, {5, 0}, {-6, -8}, {0, 0}});
  const std::vector<uint32_t> query_row = {1, 0, 1};
  const OwnedLists pairs({{0, 2}, {1, 0, 3}, {}});
  EXPECT_THAT(PairCosines({queries, documents, query_row, pairs.lists()}),
              ElementsAre(0.8F, -1.0F, 1.0F, 0.0F, 0.0F));
}

TEST_F(PairScores, AnEmbeddingThatIsNotFiniteIsAnError) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<uint32_t> query_row = {0};
  const OwnedLists pairs(Lists{std::vector<uint32_t>{0}});
  EXPECT_THROW(PairCosines({Matrix({{1, nan}}), Matrix({{1, 1}}), query_row, pairs.lists()}),
               NumericError);
  const float large = std::numeric_limits<float>::infinity();
  for (const float broken : {nan, large, -large}) {
    const tensor::Tensor bad = Matrix({{1, broken}}), good = Matrix({{1, 1}});
    for (const auto& [query, document] : {std::pair(bad, good), std::pair(good, bad)}) {
      EXPECT_THROW(PairCosines({query, document, query_row, pairs.lists()}), NumericError);
      EXPECT_THROW(PairDots({query, document, query_row, pairs.lists()}), NumericError);
    }
  }
  EXPECT_THROW(
      ReciprocalRanks({Matrix({{1, 1}}), Matrix({{1, 1}, {large, 1}}), query_row, pairs.lists()},
                      pairs.lists(), {0, 1}),
      NumericError);
}

TEST_F(PairScores, ADotProductThatNoFloatHoldsIsAnError) {
  const std::vector<uint32_t> query_row = {0};
  const OwnedLists pairs(Lists{std::vector<uint32_t>{0}});
  const tensor::Tensor query = Matrix({{1e30F, 0}}), document = Matrix({{1e20F, 1e20F}});
  EXPECT_THROW(PairDots({query, document, query_row, pairs.lists()}), NumericError);
  EXPECT_THROW(PairDots({query, Matrix({{-1e20F, -1e20F}}), query_row, pairs.lists()}),
               NumericError);
  EXPECT_NEAR(PairCosines({query, document, query_row, pairs.lists()})[0], std::sqrt(0.5), 1e-6);
}

// Query 0 looks along the first axis. Among the other queries' positives 1, 2 and 3 only 1 is
// nearer than its document 0; 4 is as near and does not count.
TEST_F(PairScores, ARankCountsTheNearerPositivesOfOtherQueries) {
  const tensor::Tensor queries = Matrix({{2, 0}, {0, 1}});
  const tensor::Tensor documents = Matrix({{1, 1}, {3, 1}, {0, 1}, {-1, 0}, {5, -5}});
  const std::vector<uint32_t> query_row = {0, 1};
  const OwnedLists pairs({{0}, {1, 2, 3, 4}});
  EXPECT_THAT(ReciprocalRanks({queries, documents, query_row, pairs.lists()}, pairs.lists(),
                              {0, 1, 2, 3, 4}),
              ElementsAre(0.5F, 0.5F, 1.0F, 0.5F, 0.5F));
}

TEST_F(PairScores, PairedDocumentsAreNoCandidates) {
  const tensor::Tensor queries = Matrix({{1, 0}, {0, 1}});
  const tensor::Tensor documents = Matrix({{1, 1}, {3, 1}, {4, 1}, {0, 1}});
  const std::vector<uint32_t> query_row = {0, 1};
  const OwnedLists pairs({{0}, {3}});
  const EmbeddedPairs embedded{queries, documents, query_row, pairs.lists()};
  const auto first = [&](const Lists& own) {
    return ReciprocalRanks(embedded, OwnedLists(own).lists(), {0, 1, 2, 3})[0];
  };
  EXPECT_FLOAT_EQ(first({{0}, {3}}), 1.0F / 3);
  EXPECT_FLOAT_EQ(first({{0, 2}, {3}}), 1.0F / 2);
  EXPECT_FLOAT_EQ(first({{2, 0, 1}, {3}}), 1);
  EXPECT_FLOAT_EQ(first({{0, 1, 2, 3}, {3}}), 1);  // nothing is left
}

// docs/sampling.md. Document d has the cosines c with queries 1 to 4 where the queries are the axes
// and its embedding is (c, the rest of its length).
TEST_F(PairScores, TheExampleOfTheDocumentation) {
  const float cosines[4][4] = {{0.9F, 0.1F, 0.2F, 0.3F},
                               {0.3F, 0.4F, 0.2F, 0.1F},
                               {0.8F, 0.6F, 0.7F, 0.5F},
                               {0.2F, 0.6F, 0.5F, 0.1F}};
  std::vector<std::vector<float>> queries(4), documents(4);
  for (size_t i = 0; i < 4; ++i) {
    queries[i].assign(5, 0);
    queries[i][i] = 1;
    float square = 0;
    for (size_t q = 0; q < 4; ++q) {
      documents[i].push_back(cosines[q][i]);
      square += cosines[q][i] * cosines[q][i];
    }
    documents[i].push_back(std::sqrt(std::max(0.0F, 2 - square)));  // all lengths are sqrt(2)
  }
  const std::vector<uint32_t> query_row = {0, 1, 2, 3};
  const OwnedLists pairs({{0}, {1}, {2}, {3}});
  const EmbeddedPairs embedded{Matrix(queries), Matrix(documents), query_row, pairs.lists()};
  const std::vector<float> of_pairs = PairCosines(embedded);
  EXPECT_TRUE(of_pairs[0] > of_pairs[2] && of_pairs[2] > of_pairs[1] && of_pairs[1] > of_pairs[3]);
  const std::vector<float> ranks = ReciprocalRanks(embedded, pairs.lists(), {0, 1, 2, 3});
  EXPECT_THAT(ranks, ElementsAre(1, 1, 0.5F, 0.25F));
}

// Equal embeddings have equal cosines, whatever a product of floats makes of them.
TEST_F(PairScores, TiesDoNotCount) {
  tensor::Tensor documents = RandomMatrix(300, 37, 1);
  float* values = documents.data_ptr<float>();
  for (int64_t d = 1; d < 300; ++d) {
    for (int64_t c = 0; c < 37; ++c) values[d * 37 + c] = values[c];
  }
  std::vector<uint32_t> query_row, positives(300);
  Lists lists;
  for (uint32_t q = 0; q < 300; ++q) {
    query_row.push_back(q);
    lists.push_back({q});
    positives[q] = q;
  }
  const OwnedLists pairs(lists);
  const auto ranks = ReciprocalRanks(
      {RandomMatrix(300, 37, 2), documents, query_row, pairs.lists()}, pairs.lists(), positives);
  EXPECT_THAT(ranks, testing::Each(1.0F));
}

// Against the definition, with several tiles of queries and candidates, a partial order of
// candidates, and queries with many documents of their own.
class RandomPairs : public PairScores {
 protected:
  static constexpr uint32_t kQueries = 150, kDocuments = 2500;
  RandomPairs() {
    RandomStream stream({7, "pairs"});
    for (uint32_t q = 0; q < kQueries; ++q) {
      query_row_.push_back(static_cast<uint32_t>(stream.Below(kQueries)));
      std::set<uint32_t> pool;
      for (uint64_t i = stream.Below(q % 10 == 0 ? 400 : 4); i > 0; --i) {
        pool.insert(static_cast<uint32_t>(stream.Below(kDocuments)));
      }
      pools_.emplace_back(pool.begin(), pool.end());
      for (uint64_t i = stream.Below(4); i > 0; --i) {
        pool.insert(static_cast<uint32_t>(stream.Below(kDocuments)));
      }
      relevant_.emplace_back(pool.begin(), pool.end());
    }
    for (uint32_t d = 0; d < kDocuments; d += 1 + d % 2) positives_.push_back(d);
  }
  std::vector<float> Expected(const ConsistencyOptions& options) const {
    std::vector<uint32_t> order = positives_;
    RandomStream({options.seed, "consistency"}).Shuffle(std::span(order));
    std::vector<float> ranks;
    for (uint32_t q = 0; q < kQueries; ++q) {
      std::set<uint32_t> own(pools_[q].begin(), pools_[q].end());
      for (const uint32_t d : relevant_[query_row_[q]]) own.insert(d);
      std::vector<uint32_t> candidates;
      for (const uint32_t d : order) {
        if (candidates.size() < options.candidates && !own.contains(d)) candidates.push_back(d);
      }
      for (const uint32_t document : pools_[q]) {
        const double cosine = Cosine(queries_, query_row_[q], documents_, document);
        int rank = 1;
        for (const uint32_t d : candidates) {
          rank += Cosine(queries_, query_row_[q], documents_, d) > cosine;
        }
        ranks.push_back(1.0F / static_cast<float>(rank));
      }
    }
    return ranks;
  }

  tensor::Tensor queries_ = RandomMatrix(kQueries, 24, 1);
  tensor::Tensor documents_ = RandomMatrix(kDocuments, 24, 2);
  std::vector<uint32_t> query_row_, positives_;
  Lists pools_, relevant_;
};

TEST_F(RandomPairs, RanksAreThoseOfTheDefinition) {
  const OwnedLists pools(pools_), relevant(relevant_);
  const EmbeddedPairs pairs{queries_, documents_, query_row_, pools.lists()};
  for (const ConsistencyOptions& options :
       {ConsistencyOptions{}, ConsistencyOptions{.candidates = 1100, .seed = 5},
        ConsistencyOptions{.candidates = 10, .seed = 6}}) {
    const auto ranks = ReciprocalRanks(pairs, relevant.lists(), positives_, options);
    EXPECT_EQ(ranks, Expected(options)) << options.candidates;
    tensor::SetThreadCount(1);
    EXPECT_EQ(ranks, ReciprocalRanks(pairs, relevant.lists(), positives_, options));
    tensor::SetThreadCount(2);
  }
}

// A round has 8,192 queries.
TEST_F(PairScores, RankingCanBeStoppedBetweenRounds) {
  constexpr uint32_t kMany = 2 * 8192 + 1;
  const std::vector<uint32_t> query_row(kMany, 0);
  const OwnedLists pairs(Lists(kMany, {0})), relevant(Lists{std::vector<uint32_t>{1}});
  const tensor::Tensor queries = Matrix({{1, 0}}), documents = Matrix({{1, 0}, {0, 1}});
  const EmbeddedPairs embedded{queries, documents, query_row, pairs.lists()};
  int rounds = 0;
  const ConsistencyOptions counted{.between_rounds = [&] { ++rounds; }};
  EXPECT_EQ(ReciprocalRanks(embedded, relevant.lists(), {0, 1}, counted).size(), kMany);
  EXPECT_EQ(rounds, 3);
  const ConsistencyOptions stopped{.between_rounds = [] { throw std::runtime_error("stopped"); }};
  EXPECT_THROW(ReciprocalRanks(embedded, relevant.lists(), {0, 1}, stopped), std::runtime_error);
}

TEST_F(RandomPairs, CosinesAreThoseOfTheDefinition) {
  const OwnedLists pools(pools_);
  const auto cosines = PairCosines({queries_, documents_, query_row_, pools.lists()});
  size_t p = 0;
  for (uint32_t q = 0; q < kQueries; ++q) {
    for (const uint32_t d : pools_[q]) {
      EXPECT_NEAR(cosines[p++], Cosine(queries_, query_row_[q], documents_, d), 1e-7);
    }
  }
  EXPECT_EQ(p, cosines.size());
}

}  // namespace
}  // namespace tandem::search
