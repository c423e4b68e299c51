#include "data/formats/sentence_transformers.h"

#include "data/data_test.h"

namespace tandem::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ReadColumnsTest : public TrainingLinesTest<ReadColumns> {};

// Gives "text=grade" for every judged document of a query.
std::vector<std::string> Judged(const Dataset& dataset, size_t query) {
  std::vector<std::string> judged;
  for (const Judgement& judgement : dataset.judged.at(query).judgements) {
    judged.push_back(std::string(dataset.documents.text(judgement.document)) + "=" +
                     std::to_string(static_cast<int>(judgement.grade)));
  }
  return judged;
}

TEST_F(ReadColumnsTest, TheSameTextIsOneQueryAndOneDocument) {
  Warnings warnings;
  const Dataset dataset = Read(R"({"anchor": "a", "positive": "p1", "negative": "n"}
{"anchor": "b", "positive": "n", "negative": "p1"}
{"anchor": "a", "positive": "p2"}
{"anchor": "a", "positive": "p1"}
)",
                               warnings);
  EXPECT_THAT(warnings.Messages(), IsEmpty());
  ASSERT_EQ(dataset.queries.size(), 2U);
  ASSERT_EQ(dataset.documents.size(), 3U);
  EXPECT_THAT(Judged(dataset, 0), ElementsAre("p1=1", "n=0", "p2=1"));
  EXPECT_THAT(Judged(dataset, 1), ElementsAre("n=1", "p1=0"));
  EXPECT_EQ(dataset.queries.id(1), "2");
  EXPECT_EQ(dataset.documents.id(1), "1:negative");
}

TEST_F(ReadColumnsTest, OtherNamesNumberedNegativesAndLists) {
  Warnings warnings;
  const Dataset dataset = Read(
      R"({"query": "a", "document": ["p1", "p2"], "negative_1": "n1", "negative_2": ["n2", "n3"], "source": "?"}
{"question": "b", "answer": "p1", "kind": 0.5, "source": null}
{"sentence1": "c", "sentence2": "p1"}
{"premise": "d", "hypothesis": "p1"})",
      warnings);
  EXPECT_THAT(Judged(dataset, 0), ElementsAre("p1=1", "p2=1", "n1=0", "n2=0", "n3=0"));
  EXPECT_THAT(Judged(dataset, 1), ElementsAre("p1=1"));
  EXPECT_EQ(dataset.documents.id(4), "1:negative_2:2");
  EXPECT_THAT(warnings.Messages(),
              ElementsAre("f.jsonl: values of keys that are not read: kind (1), source (2); all "
                          "together: 3 (first at line 1)"));
  EXPECT_EQ(dataset.scores, ScoreKind::kNone);
}

TEST_F(ReadColumnsTest, AScoreOfAPair) {
  Warnings warnings;
  const Dataset dataset = Read(R"({"sentence1": "a", "sentence2": "p", "score": 0.5}
{"anchor": "a", "positive": "q", "label": 1}
{"anchor": "b", "positive": ["p"], "score": null})",
                               warnings);
  EXPECT_EQ(JudgedTexts(dataset, 0), "p=1/0.5@1 q=1/1@2");
  EXPECT_EQ(JudgedTexts(dataset, 1), "p=1@3");
  EXPECT_EQ(dataset.scores, ScoreKind::kPairs);
  EXPECT_THAT(warnings.Messages(), IsEmpty());
}

TEST_F(ReadColumnsTest, AScoreForEachDocument) {
  Warnings warnings;
  const Dataset dataset = Read(
      R"({"query": "a", "positive": "p", "negative_1": "m", "negative_2": ["n", "o"], "scores": [9, 1.5, -2, 0]}
{"query": "b", "positive": "p", "label": [3]})",
      warnings);
  EXPECT_EQ(JudgedTexts(dataset, 0), "p=1/9@1 m=0/1.5@1 n=0/-2@1 o=0/0@1");
  EXPECT_EQ(JudgedTexts(dataset, 1), "p=1/3@2");
  EXPECT_EQ(dataset.scores, ScoreKind::kLists);
}

TEST_F(ReadColumnsTest, MarginsAreATeachersScoresBelowThePositive) {
  Warnings warnings;
  const Dataset dataset = Read(
      R"({"query": "a", "positive": "p", "negative": "m", "label": 4.5}
{"query": "a", "positive": "p", "negative_1": "n", "negative_2": "o", "label": [1, -2]})",
      warnings);
  EXPECT_EQ(JudgedTexts(dataset, 0), "p=1/0@1 m=0/-4.5@1 n=0/-1@2 o=0/2@2");
  EXPECT_EQ(dataset.scores, ScoreKind::kMargins);
}

TEST_F(ReadColumnsTest, AJudgesProbabilities) {
  Warnings warnings;
  const Dataset dataset = Read(
      R"({"query": "a", "positive": "p", "probabilities": [0.25, 0, 0.75]}
{"query": "b", "positive": "p", "negative": "n", "probabilities": [[0, 1], [0.5, 0.5]]})",
      warnings);
  EXPECT_EQ(JudgedTexts(dataset, 0), "p=1/0.75@1");
  EXPECT_EQ(JudgedTexts(dataset, 1), "p=1/1@2 n=0/0.5@2");
  EXPECT_EQ(dataset.scores, ScoreKind::kProbabilities);
}

TEST_F(ReadColumnsTest, APositiveThatIsAlsoANegativeStaysPositive) {
  Warnings warnings;
  const Dataset dataset = Read(R"({"anchor": "a", "positive": "x", "negative": "y"}
{"anchor": "a", "positive": "y", "negative": "x"})",
                               warnings);
  EXPECT_THAT(Judged(dataset, 0), ElementsAre("x=1", "y=1"));
  EXPECT_THAT(warnings.Messages(),
              ElementsAre("f.jsonl: texts that are positive and negative of one query, taken as "
                          "positive: 2 (first at line 2)"));
}

TEST_F(ReadColumnsTest, EmptyTextsAreCounted) {
  Warnings warnings;
  Read(R"({"anchor": "", "positive": " "})", warnings);
  EXPECT_THAT(warnings.Messages(), ElementsAre("f.jsonl: empty texts, kept: 2 (first at line 1)"));
}

TEST_F(ReadColumnsTest, GzipFilesAreRead) {
  const TemporaryFolder folder;
  WriteGzip(folder.path() / "train.jsonl.gz", R"({"anchor": "a", "positive": "p"})");
  EXPECT_EQ(ReadColumns(folder.path() / "train.jsonl.gz").documents.text(0), "p");
}

TEST_F(ReadColumnsTest, BrokenScoresAreNamed) {
  EXPECT_EQ(ErrorOf(R"({"anchor": "a", "positive": "p", "score": 1, "label": 1})"),
            "f.jsonl:1: has both \"score\" and \"label\" for the scores");
  EXPECT_EQ(ErrorOf(R"({"anchor": "a", "positive": "p", "score": 1, "probabilities": [1, 0]})"),
            "f.jsonl:1: has both \"score\" and \"probabilities\" for the scores");
  EXPECT_EQ(ErrorOf(R"({"anchor": "a", "positive": ["p", "q"], "score": 1})"),
            "f.jsonl:1: \"score\" is an integer; expected a list of numbers");
  EXPECT_EQ(ErrorOf(R"({"anchor": "a", "positive": "p", "negative": ["m", "n"], "score": [1]})"),
            "f.jsonl:1: \"score\" has 1 entries for 3 documents");
  EXPECT_EQ(ErrorOf("{\"anchor\": \"a\", \"positive\": \"p\", \"score\": 1}\n"
                    "{\"anchor\": \"a\", \"positive\": \"p\", \"score\": [1]}"),
            "f.jsonl:2: has a score for each document, where earlier lines have a score for its "
            "pair; a file can have one of them only");
}

TEST_F(ReadColumnsTest, BrokenLinesAreNamed) {
  EXPECT_EQ(
      ErrorOf(R"({"positive": "p"})"),
      "f.jsonl:1: has no query; expected one of the columns anchor, query, question, sentence1 "
      "or premise, found positive (`tandem import` makes a data set of columns with other names)");
  EXPECT_EQ(ErrorOf("\n{\"anchor\": \"a\"}"),
            "f.jsonl:2: has no positive; expected one of the columns positive, document, answer, "
            "sentence2 or hypothesis, found anchor (`tandem import` makes a data set of columns "
            "with other names)");
  EXPECT_THAT(ErrorOf("{}"), testing::HasSubstr("or premise, found none (`tandem import`"));
  EXPECT_THAT(ErrorOf(R"({"Frage": "a", "Antwort": "p"})"),
              testing::HasSubstr("or premise, found Frage, Antwort (`tandem import`"));
  EXPECT_EQ(ErrorOf(R"({"anchor": "a", "query": "a", "positive": "p"})"),
            "f.jsonl:1: has both \"anchor\" and \"query\" for the query");
  EXPECT_EQ(ErrorOf(R"({"anchor": ["a"], "positive": "p"})"),
            "f.jsonl:1: \"anchor\" is a list of strings; expected a string");
  EXPECT_EQ(ErrorOf(R"({"anchor": "a", "positive": 3})"),
            "f.jsonl:1: \"positive\" is an integer; expected a string or a list of strings");
  EXPECT_EQ(ErrorOf(R"({"anchor": "a", "positive": []})"),
            "f.jsonl:1: \"positive\" is an empty list");
  EXPECT_EQ(ErrorOf(R"({"anchor": "a", "positive": ["p", 1]})"),
            "f.jsonl:1: \"positive\" is a list with an integer; expected a string or a list of "
            "strings");
  EXPECT_EQ(ErrorOf(R"({"anchor": "a", "positive": null})"),
            "f.jsonl:1: \"positive\" has null for a positive; expected a text");
  EXPECT_THAT(ErrorOf("{"), HasSubstr("f.jsonl:1: is not valid JSON"));
  EXPECT_EQ(ErrorOf(""), "f.jsonl: holds no example");
}

}  // namespace
}  // namespace tandem::data
