// Summaries of data files: line_summary.h, beir_summary.h and what they count with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/error.h"
#include "base/files/files.h"
#include "base/hashes/text_hash.h"
#include "data/summaries/beir_summary.h"
#include "data/summaries/hash_sample.h"
#include "data/summaries/line_summary.h"
#include "support/temporary_folder.h"

namespace tandem::data {
namespace {

TEST(HashSample, IsExactUntilItIsFull) {
  HashSample<Nothing> sample(100);
  for (uint64_t i = 0; i < 300; ++i) sample.At(TextHash(std::to_string(i % 100)));
  EXPECT_TRUE(sample.is_exact());
  EXPECT_EQ(sample.Estimate(sample.size()), 100U);
}

TEST(HashSample, EstimatesBeyondWithItsErrorAndInAnyOrder) {
  constexpr uint64_t kKeys = 200'000;
  HashSample<uint64_t> forward(10'000), backward(10'000);
  for (uint64_t i = 0; i < kKeys; ++i) {
    if (uint64_t* value = forward.At(TextHash(std::to_string(i)))) *value = i % 2;
    if (uint64_t* value = backward.At(TextHash(std::to_string(kKeys - 1 - i)))) {
      *value = (kKeys - 1 - i) % 2;
    }
  }
  EXPECT_FALSE(forward.is_exact());
  EXPECT_LE(forward.size(), 10'000U);
  const auto estimate = static_cast<double>(forward.Estimate(forward.size()));
  EXPECT_NEAR(estimate, kKeys, 4 * 1.2 / std::sqrt(10'000) * kKeys);
  const auto odd = [](uint64_t value) { return value == 1; };
  EXPECT_NEAR(static_cast<double>(forward.EstimateIf(odd)), kKeys / 2.0, 0.1 * kKeys);
  EXPECT_EQ(forward.size(), backward.size());
  EXPECT_EQ(forward.EstimateIf(odd), backward.EstimateIf(odd));
}

TEST(CountSpread, LowerMedian) {
  CountSpread spread;
  EXPECT_EQ(spread.median(), 0U);
  for (const uint64_t count : {5, 1, 3, 2}) spread.Add(count);
  EXPECT_EQ(spread.lowest(), 1U);
  EXPECT_EQ(spread.median(), 2U);
  EXPECT_EQ(spread.highest(), 5U);
}

class SummaryTest : public testing::Test {
 protected:
  std::filesystem::path Write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    WriteFileAtomically(folder_.path() / name, text);
    return folder_.path() / name;
  }
  LineSummary Lines(const std::string& format, const std::string& text) {
    return SummarizeLines(Write("lines.jsonl", text), format, {}, warnings_);
  }

  TemporaryFolder folder_;
  Warnings warnings_;
};

TEST_F(SummaryTest, FlagEmbeddingWithScores) {
  const LineSummary lines = Lines(
      "flag_embedding", R"({"query": "a", "pos": ["x", "y"], "neg": ["z"], "pos_scores": [1, 0.5],)"
                        R"( "neg_scores": [-2], "type": "t"})"
                        "\n"
                        R"({"query": "b", "pos": ["x"]})"
                        "\n");
  EXPECT_EQ(lines.lines, 2U);
  EXPECT_EQ(lines.queries, 2U);
  EXPECT_EQ(lines.documents, 3U);
  EXPECT_EQ(lines.positives, 3U);
  EXPECT_EQ(lines.negatives, 1U);
  EXPECT_EQ(lines.negatives_per_line.lowest(), 0U);
  EXPECT_EQ(lines.scores, ScoreKind::kLists);
  EXPECT_EQ(lines.scored, 3U);
  EXPECT_EQ(lines.lowest_score, -2);
  EXPECT_EQ(lines.highest_score, 1);
  EXPECT_EQ(lines.ignored.at("type"), 1U);
  EXPECT_EQ(lines.columns.size(), 6U);
  EXPECT_EQ(lines.columns[1].type, "list of strings");
  EXPECT_EQ(lines.columns[2].lines, 1U);
}

TEST_F(SummaryTest, ColumnsWithRepeatsAndContradictions) {
  const LineSummary lines =
      Lines("sentence_transformers", R"({"anchor": "q", "positive": "a", "label": -1})"
                                     "\n"
                                     R"({"anchor": "q", "positive": "a", "label": 3})"
                                     "\n"
                                     R"({"anchor": "p", "positive": "a", "label": 2})"
                                     "\n");
  EXPECT_EQ(lines.queries, 2U);
  EXPECT_EQ(lines.repeated_pairs, 1U);
  EXPECT_EQ(lines.contradicting_pairs, 0U);
  EXPECT_EQ(lines.scores, ScoreKind::kPairs);
  EXPECT_EQ(lines.lowest_score, -1);
  EXPECT_EQ(lines.highest_score, 3);
  const LineSummary negatives =
      Lines("sentence_transformers",
            R"({"anchor": "q", "positive": "a", "negative_1": "b", "negative_2": " "})"
            "\n"
            R"({"anchor": "q", "positive": "b", "negative_1": "c", "negative_2": "a"})"
            "\n");
  EXPECT_EQ(negatives.repeated_pairs, 2U);
  EXPECT_EQ(negatives.contradicting_pairs, 2U);  // a and b
  EXPECT_EQ(negatives.empty_texts, 0U);
  EXPECT_EQ(negatives.skipped, 1U);
}

TEST_F(SummaryTest, LabelsThatAreMissingOrAgainstTheirListAreCounted) {
  Lines("sentence_transformers", R"({"query": "q", "answer": "a", "label": 1})"
                                 "\n"
                                 R"({"query": "q", "answer": "b", "label": null})"
                                 "\n");
  Lines("flag_embedding",
        R"({"query": "q", "pos": ["a"], "neg": ["b"], "pos_scores": [0], "neg_scores": [1]})");
  const std::string file = (folder_.path() / "lines.jsonl").native();
  EXPECT_THAT(
      warnings_.Messages(),
      testing::ElementsAre(file + ": documents without a score where others have one, an error in "
                                  "training: 1 (first at line 2)",
                           file + ": documents labelled 0 in a list of positives, or 1 in one of "
                                  "negatives, taken by their label: 2 (first at line 1)"));
}

TEST_F(SummaryTest, TevatronKnowsTextsById) {
  const LineSummary lines =
      Lines("tevatron",
            R"({"query_id": "1", "query": "a", "positive_passages": [{"docid": "d", "text": "x"}],)"
            R"( "negative_passages": [{"docid": "e", "text": "x"}]})"
            "\n");
  EXPECT_EQ(lines.documents, 2U);
  EXPECT_EQ(lines.contradicting_pairs, 0U);
  EXPECT_EQ(lines.text_bytes, 3U);
}

TEST_F(SummaryTest, LinesThatTheReaderRefusesAreErrors) {
  EXPECT_THROW(Lines("tevatron", R"({"query_id": "1", "query": "a"})"), DataError);
  EXPECT_THROW(Lines("sentence_transformers", "\n"), DataError);
  EXPECT_THROW(Lines("sentence_transformers",
                     R"({"anchor": "a", "positive": "b", "score": 1})"
                     "\n"
                     R"({"anchor": "a", "positive": "b", "negative": "c", "score": 1})"),
               DataError);
}

TEST_F(SummaryTest, JudgementsCountRepeatsAndContradictions) {
  const JudgementSummary found = SummarizeJudgements(
      Write("q.tsv", "query-id\tcorpus-id\tscore\nq\td\t1\nq\td\t1\nq\td\t2\nq\te\t-1\np\tf\t0\n"),
      warnings_);
  EXPECT_EQ(found.judgements, 5U);
  EXPECT_EQ(found.queries, 2U);
  EXPECT_EQ(found.documents, 3U);
  EXPECT_EQ(found.repeated, 1U);
  EXPECT_EQ(found.contradicting, 1U);
  EXPECT_EQ(found.above_zero, 1U);
  EXPECT_EQ(found.zero, 1U);
  EXPECT_EQ(found.below_zero, 1U);
  EXPECT_EQ(found.relevant_per_query.highest(), 1U);
  EXPECT_EQ(found.relevant_per_query.lowest(), 0U);
  EXPECT_EQ(found.lowest_grade, -1);
  EXPECT_EQ(found.grades.size(), 3U);
}

TEST_F(SummaryTest, SplitsOfABeirFolder) {
  const std::filesystem::path folder =
      Write("b/corpus.jsonl",
            "{\"_id\": \"d\", \"text\": \"x\"}\n{\"_id\": \"d\", \"text\": \"y\"}\n")
          .parent_path();
  Write("b/queries.jsonl",
        "{\"_id\": \"q\", \"text\": \"a\"}\n{\"_id\": \"r\", \"text\": \"a\"}\n");
  Write("b/qrels/dev.tsv", "q\td\t1\n");
  Write("b/qrels/test.tsv", "q\td\t1\nr\te\t0\n");
  Write("b/qrels/train.tsv", "r\td\t0\ns\td\t1\n");
  const BeirSummary found = SummarizeBeir(folder, warnings_);
  EXPECT_EQ(found.corpus.repeated_ids, 1U);
  EXPECT_EQ(found.corpus.copies, 0U);
  EXPECT_EQ(found.queries.copies, 1U);
  ASSERT_EQ(found.splits.size(), 3U);
  EXPECT_EQ(found.splits[1].unknown_documents, 1U);
  EXPECT_EQ(found.splits[2].unknown_queries, 1U);
  ASSERT_EQ(found.overlaps.size(), 3U);
  EXPECT_EQ(found.overlaps[0].first + found.overlaps[0].second, "devtest");
  EXPECT_EQ(found.overlaps[0].queries, 1U);
  EXPECT_EQ(found.overlaps[0].query_texts, 1U);
  EXPECT_EQ(found.overlaps[1].second, "train");
  EXPECT_EQ(found.overlaps[1].queries, 0U);
  EXPECT_EQ(found.overlaps[1].query_texts, 1U);  // q in dev, r in train
  EXPECT_EQ(found.overlaps[1].documents, 1U);
  EXPECT_EQ(found.overlaps[2].queries, 1U);  // r
}

}  // namespace
}  // namespace tandem::data
