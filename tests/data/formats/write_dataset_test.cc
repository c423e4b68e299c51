// What each format looks like, and its scores.
#include "data/formats/write_test.h"
#include "data/judgements/grades.h"

namespace tandem::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// --- What each format looks like -----------------------------------------------------------------

TEST_F(WriteDatasetTest, BeirKeepsEverything) {
  WriteCounts counts = WriteDataset(ReadBeir(), "beir", Path("out"), {.split = "dev"}, &warnings_);
  EXPECT_EQ(ReadFile(Path("out") / "corpus.jsonl"),
            R"({"_id": "d1", "title": "Title", "text": "first document"}
{"_id": "d2", "title": "", "text": "second document"}
{"_id": "d3", "title": "", "text": "third"}
)");
  EXPECT_EQ(ReadFile(Path("out") / "queries.jsonl"), R"({"_id": "q1", "text": "one"}
{"_id": "q2", "text": "two"}
)");
  EXPECT_EQ(ReadFile(Path("out") / "qrels" / "dev.tsv"),
            "query-id\tcorpus-id\tscore\nq2\td1\t2\nq2\td2\t0\nq1\td3\t1\n");
  EXPECT_EQ(counts.queries, 2U);
  EXPECT_EQ(counts.documents, 3U);
  EXPECT_EQ(counts.judgements, 3U);
  EXPECT_EQ(counts.lines, 0U);
  EXPECT_THAT(Warned(), IsEmpty());
}

TEST_F(WriteDatasetTest, FlagEmbeddingHasALineForEachQuery) {
  EXPECT_EQ(
      Lines(ReadBeir(), "flag_embedding"),
      R"({"query": "two", "pos": ["Title first document"], "neg": ["second document"], "pos_scores": [2], "neg_scores": [0]}
{"query": "one", "pos": ["third"], "neg": [], "pos_scores": [1], "neg_scores": []}
)");
  EXPECT_EQ(counts_.queries, 2U);
  EXPECT_EQ(counts_.documents, 3U);
  EXPECT_EQ(counts_.judgements, 3U);
  EXPECT_EQ(counts_.lines, 2U);
  EXPECT_THAT(Warned(),
              ElementsAre("OUT: documents with a title, written as the start of the text: 1"));
}

TEST_F(WriteDatasetTest, TevatronKeepsIdsAndTitles) {
  EXPECT_EQ(
      Lines(ReadBeir(), "tevatron"),
      R"({"query_id": "q2", "query": "two", "positive_passages": [{"docid": "d1", "title": "Title", "text": "first document", "score": 2}], "negative_passages": [{"docid": "d2", "title": "", "text": "second document", "score": 0}]}
{"query_id": "q1", "query": "one", "positive_passages": [{"docid": "d3", "title": "", "text": "third", "score": 1}], "negative_passages": []}
)");
  EXPECT_THAT(Warned(), IsEmpty());
}

TEST_F(WriteDatasetTest, GradesBecomeLabelledPairsOfColumns) {
  EXPECT_EQ(Lines(ReadBeir(), "sentence_transformers"),
            R"({"query": "two", "document": "Title first document", "score": 2}
{"query": "two", "document": "second document", "score": 0}
{"query": "one", "document": "third", "score": 1}
)");
  EXPECT_EQ(counts_.lines, 3U);
}

TEST_F(WriteDatasetTest, GradesOfZeroAndOneAreNotWritten) {
  beir_.Write("qrels/test.tsv", "q2\td1\t1\nq2\td2\t0\nq1\td3\t1\n");
  const Dataset dataset = ReadBeir();
  EXPECT_THAT(Lines(dataset, "flag_embedding"), testing::Not(HasSubstr("scores")));
  EXPECT_THAT(Lines(dataset, "tevatron"), testing::Not(HasSubstr("score")));
}

TEST_F(WriteDatasetTest, PositivesWithoutNegativesBecomePairs) {
  const Dataset dataset = Read("in.jsonl", R"({"anchor": "a", "positive": ["p", "q"]}
{"anchor": "b", "positive": "r"})");
  EXPECT_EQ(Lines(dataset, "sentence_transformers"), R"({"anchor": "a", "positive": "p"}
{"anchor": "a", "positive": "q"}
{"anchor": "b", "positive": "r"}
)");
}

// Three negatives, then two: two a line, counted in a circle.
TEST_F(WriteDatasetTest, TuplesHaveAsManyNegativesAsTheQueryWithTheFewest) {
  const Dataset dataset = Read("in.jsonl", R"({"query": "a", "pos": ["p"], "neg": ["x", "y", "z"]}
{"query": "b", "pos": ["q", "r", "s"], "neg": ["x", "y"]})");
  EXPECT_EQ(Lines(dataset, "sentence_transformers"),
            R"({"anchor": "a", "positive": "p", "negative_1": "x", "negative_2": "y"}
{"anchor": "a", "positive": "p", "negative_1": "z", "negative_2": "x"}
{"anchor": "b", "positive": "q", "negative_1": "x", "negative_2": "y"}
{"anchor": "b", "positive": "r", "negative_1": "x", "negative_2": "y"}
{"anchor": "b", "positive": "s", "negative_1": "x", "negative_2": "y"}
)");
  EXPECT_EQ(counts_.judgements, 9U);
  EXPECT_THAT(Warned(), IsEmpty());
}

TEST_F(WriteDatasetTest, AGivenNumberOfNegativesLeavesQueriesWithFewerOut) {
  const Dataset dataset = Read("in.jsonl", R"({"query": "a", "pos": ["p"], "neg": ["x", "y", "z"]}
{"query": "b", "pos": ["q", "r"], "neg": ["x", "y"]})");
  EXPECT_EQ(
      Lines(dataset, "sentence_transformers", {.negatives = 3}),
      R"({"anchor": "a", "positive": "p", "negative_1": "x", "negative_2": "y", "negative_3": "z"}
)");
  EXPECT_EQ(counts_.queries, 1U);
  EXPECT_EQ(counts_.judgements, 4U);
  EXPECT_THAT(Warned(),
              ElementsAre("OUT: queries with fewer negatives than a line has, left out: 1 (first "
                          "at id 2)",
                          "OUT: documents that no line holds, left out: 2"));
}

TEST_F(WriteDatasetTest, NoNegativesOnRequest) {
  const Dataset dataset = Read("in.jsonl", R"({"query": "a", "pos": ["p"], "neg": ["x", "y"]}
{"query": "b", "pos": ["q"], "neg": ["x", "y", "z"]})");
  EXPECT_EQ(Lines(dataset, "sentence_transformers", {.negatives = 0}),
            R"({"anchor": "a", "positive": "p"}
{"anchor": "b", "positive": "q"}
)");
  EXPECT_EQ(counts_.documents, 2U);
  EXPECT_EQ(counts_.judgements, 2U);
  EXPECT_THAT(Warned(), ElementsAre("OUT: negatives, left out: 5",
                                    "OUT: documents that no line holds, left out: 3"));
}

TEST_F(WriteDatasetTest, ASingleNegativeIsATriplet) {
  const Dataset dataset = Read("in.jsonl", R"({"query": "a", "pos": ["p"], "neg": ["x"]})");
  EXPECT_EQ(Lines(dataset, "sentence_transformers"),
            "{\"anchor\": \"a\", \"positive\": \"p\", \"negative\": \"x\"}\n");
}

// --- Scores --------------------------------------------------------------------------------------

TEST_F(WriteDatasetTest, ScoresOfEveryDocument) {
  const Dataset dataset = Read(
      "in.jsonl",
      R"({"query": "a", "pos": ["p"], "neg": ["x"], "pos_scores": [0.9], "neg_scores": [-2]})");
  EXPECT_EQ(Lines(dataset, "sentence_transformers"),
            "{\"anchor\": \"a\", \"positive\": \"p\", \"negative\": \"x\", \"scores\": [0.9, "
            "-2]}\n");
  EXPECT_THAT(Lines(dataset, "flag_embedding"),
              HasSubstr(R"("pos_scores": [0.9], "neg_scores": [-2])"));
  EXPECT_THAT(Lines(dataset, "tevatron"), HasSubstr(R"("text": "x", "score": -2})"));
}

TEST_F(WriteDatasetTest, ScoresOfPairs) {
  const Dataset dataset = Read("in.jsonl", R"({"anchor": "a", "positive": "p", "score": 0.25})");
  EXPECT_EQ(Lines(dataset, "sentence_transformers"),
            "{\"anchor\": \"a\", \"positive\": \"p\", \"score\": 0.25}\n");
}

TEST_F(WriteDatasetTest, AJudgesProbabilitiesGiveTheSameExpectedGrade) {
  const Dataset dataset = Read(
      "in.jsonl",
      R"({"query": "a", "pos": ["p"], "neg": ["x"], "pos_probabilities": [[0, 0.5, 0.5]], "neg_probabilities": [[1, 0, 0]]})");
  const std::string lines = Lines(dataset, "flag_embedding");
  EXPECT_THAT(lines,
              HasSubstr(R"("pos_probabilities": [[0.25,0.75]], "neg_probabilities": [[1,0]])"));
  EXPECT_THAT(Lines(dataset, "sentence_transformers"),
              HasSubstr(R"("probabilities": [[0.25,0.75], [1,0]])"));
  EXPECT_THAT(Lines(dataset, "tevatron"),
              HasSubstr(R"("text": "p", "probabilities": [0.25,0.75])"));
  EXPECT_EQ(JudgedTexts(Read("again.jsonl", lines), 0), "p=1/0.75@1 x=0/0@1");
}

TEST_F(WriteDatasetTest, MarginsStayMarginsInColumns) {
  const std::string two =
      R"({"anchor": "a", "positive": "p", "negative_1": "x", "negative_2": "y", "label": [0.5, -2]})"
      "\n";
  const Dataset dataset = Read("in.jsonl", two);
  EXPECT_EQ(Lines(dataset, "sentence_transformers"), two);
  EXPECT_EQ(Lines(dataset, "sentence_transformers", {.negatives = 1}),
            R"({"anchor": "a", "positive": "p", "negative": "x", "label": 0.5}
{"anchor": "a", "positive": "p", "negative": "y", "label": -2}
)");
  EXPECT_THAT(Warned(), IsEmpty());
  EXPECT_THAT(Lines(dataset, "flag_embedding"),
              HasSubstr(R"("pos_scores": [0], "neg_scores": [-0.5, 2])"));
  EXPECT_THAT(Warned(),
              ElementsAre("OUT: queries with margins, written as scores beside the positive's 0: 1 "
                          "(first at id 1)"));
}

TEST_F(WriteDatasetTest, MarginsWithoutNegativesSayNothing) {
  const Dataset dataset =
      Read("in.jsonl", R"({"anchor": "a", "positive": "p", "negative": "x", "label": 1})");
  EXPECT_EQ(Lines(dataset, "sentence_transformers", {.negatives = 0}),
            "{\"anchor\": \"a\", \"positive\": \"p\"}\n");
  EXPECT_THAT(
      Warned(),
      ElementsAre("OUT: negatives, left out: 1", "OUT: documents that no line holds, left out: 1",
                  "OUT: queries whose margins are left out with the negatives: 1"));
}

TEST_F(WriteDatasetTest, ScoresOfSomeDocumentsOnly) {
  const Dataset dataset = Read("in.jsonl", R"({"query": "a", "pos": ["p"], "pos_scores": [3]}
{"query": "a", "pos": ["q"]}
{"query": "b", "pos": ["r"], "pos_scores": [4]})");
  EXPECT_EQ(Lines(dataset, "flag_embedding"), R"({"query": "a", "pos": ["p", "q"], "neg": []}
{"query": "b", "pos": ["r"], "neg": [], "pos_scores": [4], "neg_scores": []}
)");
  EXPECT_THAT(Lines(dataset, "sentence_transformers"), testing::Not(HasSubstr("score")));
  EXPECT_THAT(Warned(),
              ElementsAre("OUT: queries that have scores for some documents only, written without: "
                          "1 (first at id 1)",
                          "OUT: queries with documents without a score, for which all scores are "
                          "left out: 1"));
  EXPECT_THAT(Lines(dataset, "tevatron"), HasSubstr(R"("text": "p", "score": 3}, {)"));
}

TEST_F(WriteDatasetTest, ScoresTakenAsGradesFitEveryFormat) {
  Dataset dataset = Read("in.jsonl", R"({"anchor": "a", "positive": "p", "score": 0.25})");
  ApplyScores(dataset, ScoreUse::kGrades);
  WriteDataset(dataset, "beir", Path("out"), {}, &warnings_);
  EXPECT_EQ(ReadFile(Path("out") / "qrels" / "train.tsv"),
            "query-id\tcorpus-id\tscore\n1\t1:positive\t0.25\n");
  EXPECT_THAT(Warned(), ElementsAre(HasSubstr("grades that are no whole numbers, which BEIR's own "
                                              "loader does not read: 1 (first at id 1)")));
}

}  // namespace
}  // namespace tandem::data
