#include "train/scoring/base_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "data/studies/without_pairs.h"
#include "data/training_set.h"
#include "search/encoding/embedding_cache.h"
#include "search/scoring/pair_scores.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/process.h"
#include "train/inputs/run_data.h"

namespace tandem::train {
namespace {

// q0 has the text of its document d0, which d4 copies; d1 is related to q0 and a positive of q1. q3
// has the text of d3, which is only related to it and a positive of q2.
class PairScoresTest : public testing::Test {
 protected:
  void SetUp() override {
    tensor::SetUpProcess(2);
    WriteTinyModel(folder_.path() / "model");
    model_ = model::DualEncoder::Load(folder_.path() / "model");
    const std::vector<std::string> words = TinyWords();
    data::Dataset dataset;
    for (size_t d = 0; d < 5; ++d) {
      const size_t w = d % 4;
      dataset.documents.Add("d" + std::to_string(d), words[w] + " " + words[w + 4]);
    }
    for (size_t q = 0; q < 4; ++q) {
      dataset.queries.Add("q" + std::to_string(q), words[q] + " " + words[q + 4]);
    }
    dataset.judged = {
        {0, {{0, 2}, {1, 1}, {3, 0}}}, {1, {{1, 2}, {4, 2}}}, {2, {{3, 2}}}, {3, {{0, 2}, {3, 1}}}};
    Use(dataset);
  }
  void Use(const data::Dataset& dataset) {
    set_ = data::BuildTrainingSet(dataset, 2);
    which_.clear();
    query_texts_.clear();
    for (uint32_t e = 0; e < set_.examples.size(); ++e) {
      which_.push_back(e);
      query_texts_.push_back(set_.examples[e].query);
    }
    examples_ = MakeExamples(set_, 2, which_);
  }
  PairScores Score(bool graded_own, bool consistency, const std::filesystem::path& cache = {}) {
    return ScorePairs(*model_,
                      {.examples = examples_,
                       .query_texts = query_texts_,
                       .queries = set_.queries,
                       .documents = set_.documents,
                       .graded_own = graded_own},
                      {.consistency = consistency, .cache = {.folder = cache}, .progress = false});
  }
  // 1 / the rank of the document among the candidates, by the encoder's own cosines.
  float Rank(uint32_t q, uint32_t document, const std::vector<uint32_t>& candidates) {
    int above = 0;
    for (const uint32_t c : candidates) above += Cosine(q, c) > Cosine(q, document);
    return 1.0F / static_cast<float>(above + 1);
  }
  // By the encoder itself.
  float Cosine(uint32_t query, uint32_t document) {
    const tensor::Tensor a = Row(model::TextKind::kQuery, set_.queries.text(query));
    const tensor::Tensor b = Row(model::TextKind::kDocument, set_.documents.text(document));
    const std::vector<uint32_t> row = {0};
    const std::vector<size_t> starts = {0, 1};
    return search::PairCosines({a, b, row, {starts, row}})[0];
  }
  tensor::Tensor Row(model::TextKind kind, std::string_view text) {
    return search::EmbedDistinct(*model_, kind, 1, [&](size_t) { return text; }, {}).rows;
  }

  TemporaryFolder folder_;
  std::unique_ptr<model::DualEncoder> model_;
  data::TrainingSet set_;
  std::vector<uint32_t> which_, query_texts_;
  sampling::Examples examples_{1, {}};
};

TEST_F(PairScoresTest, TextsHaveTheirOwnPrompts) {
  const std::vector<std::string> prompts = {"alpha ", "", "beta ", "gamma ", ""};
  const auto prompt = [&](size_t text) { return std::string_view(prompts[text]); };
  const PairScores scores = ScorePairs(*model_,
                                       {.examples = examples_,
                                        .query_texts = query_texts_,
                                        .queries = set_.queries,
                                        .documents = set_.documents,
                                        .query_prompt = prompt,
                                        .document_prompt = prompt},
                                       {.progress = false});
  data::Texts queries, documents;
  for (size_t q = 0; q < set_.queries.size(); ++q) {
    queries.Add(set_.queries.id(q), prompts[q] + std::string(set_.queries.text(q)));
  }
  for (size_t d = 0; d < set_.documents.size(); ++d) {
    documents.Add(set_.documents.id(d), prompts[d] + std::string(set_.documents.text(d)));
  }
  const PairScores by_hand = ScorePairs(*model_,
                                        {.examples = examples_,
                                         .query_texts = query_texts_,
                                         .queries = queries,
                                         .documents = documents},
                                        {.progress = false});
  EXPECT_EQ(scores.cosines, by_hand.cosines);
  EXPECT_NE(scores.cosines, Score(false, false).cosines);
}

TEST_F(PairScoresTest, CosinesOfPositivesInTheOrderOfTheExamples) {
  const PairScores scores = Score(false, false);
  ASSERT_EQ(scores.cosines.size(), 5U);
  EXPECT_NEAR(scores.cosines[0], 1, 1e-6);  // the same text
  EXPECT_NEAR(scores.cosines[1], Cosine(1, 1), 1e-6);
  EXPECT_NEAR(scores.cosines[2], Cosine(1, 4), 1e-6);
  EXPECT_NEAR(scores.cosines[3], Cosine(2, 3), 1e-6);
  EXPECT_NEAR(scores.cosines[4], Cosine(3, 0), 1e-6);
  EXPECT_TRUE(scores.reciprocal_ranks.empty());
  EXPECT_EQ(scores.encoded(), 4U + 3U);  // d4 is a copy of d0, d2 nobody's
}

TEST_F(PairScoresTest, GradedPairsAreAllThatIsJudged) {
  const PairScores scores = Score(true, false);
  ASSERT_EQ(scores.cosines.size(), 8U);
  size_t p = 0;
  for (size_t q = 0; q < examples_.size(); ++q) {
    for (const auto& one : examples_.judged(q)) {
      EXPECT_NEAR(scores.cosines[p++], Cosine(query_texts_[q], one.document), 1e-6);
    }
  }
}

// Distinct positives: d0 (and its copy d4), d1, d3. For q0, d0 is its own and d1 is related to it,
// so that only d3 is a candidate.
TEST_F(PairScoresTest, CandidatesAreThePositivesOfOthersThatAreNotRelevant) {
  const PairScores scores = Score(false, true);
  ASSERT_EQ(scores.reciprocal_ranks.size(), 5U);
  EXPECT_EQ(scores.reciprocal_ranks[0], Rank(0, 0, {3}));
  EXPECT_EQ(scores.reciprocal_ranks[1], Rank(1, 1, {3}));
  EXPECT_EQ(scores.reciprocal_ranks[2], Rank(1, 4, {3}));
  EXPECT_EQ(scores.reciprocal_ranks[3], Rank(2, 3, {0, 1}));
  EXPECT_EQ(scores.reciprocal_ranks[4], Rank(3, 0, {1}));
  EXPECT_NE(scores.reciprocal_ranks[4], Rank(3, 0, {1, 3}));  // d3 is relevant to q3
}

// q0 and q1 ask the same: what either knows is no candidate of the other. The document of grade 0
// is known to be irrelevant to q1 and stays one of q0.
TEST_F(PairScoresTest, QueriesWithTheSameTextKnowTheSame) {
  const std::vector<std::string> words = TinyWords();
  data::Dataset dataset;
  for (size_t d = 0; d < 6; ++d) {
    dataset.documents.Add("d" + std::to_string(d), words[d] + " " + words[d + 6]);
  }
  for (const char* id : {"q0", "q1"}) dataset.queries.Add(id, words[5]);
  dataset.queries.Add("q2", words[6]);
  dataset.judged = {
      {0, {{0, 2}}}, {1, {{1, 2}, {2, 1}, {3, 0}}}, {2, {{1, 2}, {2, 2}, {3, 2}, {4, 2}}}};
  Use(dataset);
  ASSERT_NE(Rank(0, 0, {3, 4}), Rank(0, 0, {1, 2, 3, 4}));
  const PairScores scores = Score(false, true);
  ASSERT_EQ(scores.reciprocal_ranks.size(), 6U);
  EXPECT_EQ(scores.reciprocal_ranks[0], Rank(0, 0, {3, 4}));
  EXPECT_EQ(scores.reciprocal_ranks[1], Rank(1, 1, {3, 4}));
  // q1's own pair of grade 0 is no candidate of its own, and is one of q0.
  const PairScores graded = Score(true, true);
  ASSERT_EQ(graded.reciprocal_ranks.size(), 8U);
  EXPECT_EQ(graded.reciprocal_ranks[0], Rank(0, 0, {3, 4}));
  EXPECT_EQ(graded.reciprocal_ranks[1], Rank(1, 1, {4}));
}

TEST_F(PairScoresTest, CandidatesAreMissedBeforeAnythingIsEncoded) {
  const auto has = [&](const std::vector<data::JudgedQuery>& judged, bool graded_own = false) {
    data::Dataset dataset;
    for (const char* text : {"alpha", "beta", "alpha", "gamma"}) {
      dataset.documents.Add("d" + std::to_string(dataset.documents.size()), text);
    }
    for (const char* text : {"red", "blue", "red"}) {
      dataset.queries.Add("q" + std::to_string(dataset.queries.size()), text);
    }
    dataset.judged = judged;
    Use(dataset);
    return HasCandidates({.examples = examples_,
                          .query_texts = query_texts_,
                          .queries = set_.queries,
                          .documents = set_.documents,
                          .graded_own = graded_own});
  };
  EXPECT_TRUE(has({{0, {{0, 2}}}, {1, {{1, 2}}}}));
  EXPECT_FALSE(has({{0, {{0, 2}}}}));
  EXPECT_FALSE(has({{0, {{0, 2}}}, {1, {{2, 2}}}}));                  // copies
  EXPECT_FALSE(has({{0, {{0, 2}}}, {2, {{1, 2}}}}));                  // the same query
  EXPECT_FALSE(has({{0, {{0, 2}, {1, 1}}}, {1, {{1, 2}, {0, 1}}}}));  // relevant
  EXPECT_TRUE(has({{0, {{0, 2}, {1, 1}}}, {1, {{1, 2}}}}));           // d0 is one for q1
  // Judged irrelevant: a candidate, unless it is of the query's own pairs.
  const std::vector<data::JudgedQuery> irrelevant = {{0, {{0, 2}, {1, 0}}}, {1, {{1, 2}, {0, 0}}}};
  EXPECT_TRUE(has(irrelevant));
  EXPECT_FALSE(has(irrelevant, true));
}

// All positives are judged for q0, so that its graded pairs have no candidate.
TEST_F(PairScoresTest, DocumentsOfGradedPairsAreNoCandidates) {
  const PairScores scores = Score(true, true);
  ASSERT_EQ(scores.reciprocal_ranks.size(), 8U);
  for (size_t p = 0; p < 3; ++p) EXPECT_EQ(scores.reciprocal_ranks[p], 1);
}

TEST_F(PairScoresTest, ASecondCallFindsTheEmbeddings) {
  const PairScores first = Score(false, true, folder_.path() / "cache");
  EXPECT_EQ(first.encoded(), 7U);
  const PairScores second = Score(false, true, folder_.path() / "cache");
  EXPECT_EQ(second.encoded(), 0U);
  EXPECT_EQ(first.cosines, second.cosines);
  EXPECT_EQ(first.reciprocal_ranks, second.reciprocal_ranks);
}

}  // namespace
}  // namespace tandem::train
