// What labels and scores of lines say of documents, in every format.
#include <gtest/gtest.h>

#include "data/data_test.h"
#include "data/formats/flag_embedding.h"
#include "data/formats/sentence_transformers.h"
#include "data/formats/tevatron.h"
#include "data/judgements/grades.h"
#include "data/lines/score_meaning.h"

namespace tandem::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class LabelsOfColumns : public TrainingLinesTest<ReadColumns> {};
class LabelsOfFlagEmbedding : public TrainingLinesTest<ReadFlagEmbedding> {};
class LabelsOfTevatron : public TrainingLinesTest<ReadTevatron> {};

// What sentence-transformers' mine_hard_negatives writes, in each of its forms.
TEST_F(LabelsOfColumns, LabelledLists) {
  const Dataset dataset = Read(R"({"query": "a", "answer": ["p", "m", "n"], "labels": [1, 0, 0]}
{"query": "b", "answer": ["m"], "labels": [1]})");
  EXPECT_EQ(dataset.meaning, ScoreMeaning::kLabels);
  EXPECT_EQ(JudgedTexts(dataset, 0), "p=1/1@1 m=0/0@1 n=0/0@1");
  EXPECT_EQ(JudgedTexts(dataset, 1), "m=1/1@2");
}

TEST_F(LabelsOfColumns, AListWithoutLabelsAmongOthersIsNamed) {
  EXPECT_EQ(ErrorOf(R"({"query": "a", "answer": ["p", "n"]}
{"query": "b", "answer": ["p", "n"], "labels": [1, 0]})"),
            "f.jsonl:1: \"answer\" is a list without labels, where other lines say by \"labels\" "
            "which documents of theirs are positives");
  EXPECT_EQ(JudgedTexts(Read(R"({"query": "a", "answer": ["p", "n"]})"), 0), "p=1@1 n=1@1");
  EXPECT_EQ(Read(R"({"query": "a", "answer": ["p", "n"]}
{"query": "b", "answer": "p", "negative": "n", "scores": [0.9, 0.1]})")
                .meaning,
            ScoreMeaning::kTeacher);
}

TEST_F(LabelsOfColumns, LabelledPairs) {
  const Dataset dataset = Read(R"({"query": "a", "answer": "p", "label": 1}
{"query": "a", "answer": "n", "label": 0})");
  EXPECT_EQ(dataset.meaning, ScoreMeaning::kLabels);
  EXPECT_EQ(JudgedTexts(dataset, 0), "p=1/1@1 n=0/0@2");
}

TEST_F(LabelsOfColumns, LabelsBesideNegativesWinOverTheirColumns) {
  const Dataset dataset = Read(
      R"({"anchor": "a", "positive": "p", "negative_1": "m", "negative_2": "n", "labels": [0, 1, 0]})");
  EXPECT_EQ(JudgedTexts(dataset, 0), "p=0/0@1 m=1/1@1 n=0/0@1");
}

TEST_F(LabelsOfColumns, ATeachersScoresLeaveTheColumnsAsTheyAre) {
  const Dataset triplet =
      Read(R"({"query": "a", "answer": "p", "negative": "n", "scores": [0.4, 0.7]})");
  EXPECT_EQ(triplet.meaning, ScoreMeaning::kTeacher);
  EXPECT_EQ(JudgedTexts(triplet, 0), "p=1/0.4@1 n=0/0.7@1");
  const Dataset tuple = Read(
      R"({"query": "a", "answer": "p", "negative_1": "m", "negative_2": "n", "scores": [1, 0.7, 0]})");
  EXPECT_EQ(tuple.meaning, ScoreMeaning::kTeacher);
  EXPECT_EQ(JudgedTexts(tuple, 0), "p=1/1@1 m=0/0.7@1 n=0/0@1");
}

TEST_F(LabelsOfColumns, OtherScoresOfAListNeedARule) {
  Dataset dataset = Read(R"({"query": "a", "answer": ["p", "n"], "scores": [1, 0]}
{"query": "b", "answer": ["p", "n"], "scores": [1, 0.4]})");
  EXPECT_EQ(dataset.meaning, ScoreMeaning::kUndecided);
  EXPECT_EQ(DataErrorOf([&] { SettleScores(dataset, false); }),
            "f.jsonl:2: \"scores\" has 0.4 for a document of a list that may hold positives and "
            "negatives; 1 and 0 would say which it is, other numbers need a rule: in a recipe "
            "data.scores = \"grades\" or \"teacher\" with data.positive_grade, the lowest number "
            "of a positive; elsewhere --positive-grade, which convert takes with --scores grades "
            "(score has no such flag: it takes what convert writes)");
  SettleScores(dataset, true);
  EXPECT_EQ(JudgedTexts(dataset, 1), "p=1@2 n=0.4@2");
  EXPECT_TRUE(dataset.has_grades);
}

TEST_F(LabelsOfColumns, ScoresOfPairsAreGrades) {
  Dataset dataset = Read(R"({"query": "a", "answer": "p", "score": 0.9}
{"query": "a", "answer": "n", "score": 0})");
  EXPECT_EQ(dataset.meaning, ScoreMeaning::kGrades);
  SettleScores(dataset, false);
  EXPECT_EQ(JudgedTexts(dataset, 0), "p=0.9@1 n=0@2");
  EXPECT_EQ(Read(R"({"query": "a", "answer": "p", "probabilities": [0.5, 0.5]})").meaning,
            ScoreMeaning::kGrades);
}

TEST_F(LabelsOfColumns, NumbersInStringsAndBooleans) {
  const Dataset dataset = Read(R"({"query": "a", "answer": "p", "label": " 1 "}
{"query": "a", "answer": "n", "label": "0.0"}
{"query": "a", "answer": "o", "label": false}
{"query": "a", "answer": "q", "label": true}
{"query": "a", "answer": "r", "label": "+1"})");
  EXPECT_EQ(JudgedTexts(dataset, 0), "p=1/1@1 n=0/0@2 o=0/0@3 q=1/1@4 r=1/1@5");
  const Dataset lists = Read(R"({"query": "a", "answer": ["p", "n"], "labels": [true, false]}
{"query": "b", "answer": ["p", "n"], "labels": ["0", 1]})");
  EXPECT_EQ(JudgedTexts(lists, 0), "p=1/1@1 n=0/0@1");
  EXPECT_EQ(JudgedTexts(lists, 1), "p=0/0@2 n=1/1@2");
}

TEST_F(LabelsOfColumns, WordsNeedNumbers) {
  const std::string lines = R"({"premise": "a", "hypothesis": "p", "label": "entailment"}
{"premise": "a", "hypothesis": "n", "label": "contradiction"}
{"premise": "a", "hypothesis": "o", "label": "nan"})";
  EXPECT_EQ(ErrorOf(lines),
            "f.jsonl:1: \"label\" is \"entailment\", \"contradiction\", \"nan\", where a number, "
            "true or false is expected; say what number each is, as 1 for positives and 0 for "
            "negatives: data.labels = [\"entailment=...\", \"contradiction=...\", \"nan=...\"] in "
            "a recipe, --labels entailment=...,contradiction=...,nan=... elsewhere");
  const LineRules rules{.labels = {{"entailment", 1}, {"contradiction", 0}}};
  EXPECT_THAT(ErrorOf(lines, rules),
              HasSubstr("f.jsonl:3: \"label\" is \"nan\", which data.labels (--labels) does not "
                        "name"));
  const Dataset dataset = Read(lines.substr(0, lines.rfind('\n')), rules);
  EXPECT_EQ(dataset.meaning, ScoreMeaning::kLabels);
  EXPECT_EQ(JudgedTexts(dataset, 0), "p=1/1@1 n=0/0@2");
}

TEST_F(LabelsOfColumns, ClassesAreNoGrades) {
  const std::string lines = R"({"premise": "a", "hypothesis": "p", "label": 0}
{"premise": "a", "hypothesis": "o", "label": 1}
{"premise": "a", "hypothesis": "n", "label": 2})";
  Dataset dataset = Read(lines);
  EXPECT_EQ(dataset.meaning, ScoreMeaning::kUndecided);
  EXPECT_THAT(DataErrorOf([&] { SettleScores(dataset, false); }),
              HasSubstr("f.jsonl:3: \"label\" has the classes 0, 1 and 2, which are no grades "
                        "where they stand for words (in NLI data 0 is entailment and 2 "
                        "contradiction). Say what they are: data.labels = [\"0=1\", \"1=0\", "
                        "\"2=0\"] in a recipe, --labels 0=1,1=0,2=0 elsewhere"));
  const LineRules rules{.labels = {{"0", 1}, {"1", 0}, {"2", 0}}};
  EXPECT_EQ(JudgedTexts(Read(lines, rules), 0), "p=1/1@1 o=0/0@2 n=0/0@3");
  // Who says which numbers labels stand for has said that 2 is a grade.
  const LineRules grades{.labels = {{"0", 2}, {"1", 1}, {"2", 0}}};
  EXPECT_EQ(Read(lines, grades).meaning, ScoreMeaning::kGrades);
  EXPECT_EQ(JudgedTexts(Read(lines, grades), 0), "p=1/2@1 o=1/1@2 n=1/0@3");
  // A score is a grade, and what convert writes of judgements 0, 1 and 2.
  EXPECT_EQ(Read(R"({"query": "a", "document": "p", "score": 2})").meaning, ScoreMeaning::kGrades);
}

TEST_F(LabelsOfColumns, ClassesWithoutAnAgreedLabelAreClassesToo) {
  const std::string lines = R"({"premise": "a", "hypothesis": "u", "label": -1}
{"premise": "a", "hypothesis": "p", "label": 0}
{"premise": "a", "hypothesis": "n", "label": 2})";
  Dataset dataset = Read(lines);
  EXPECT_EQ(dataset.meaning, ScoreMeaning::kUndecided);
  EXPECT_THAT(DataErrorOf([&] { SettleScores(dataset, false); }),
              AllOf(HasSubstr("f.jsonl:3: \"label\" has the classes 0, 1 and 2"),
                    HasSubstr("--positive-grade elsewhere. Lines of -1, which NLI data have where "
                              "the judges did not agree, have no label: take them out")));
  // What CosineSimilarityLoss learns.
  EXPECT_EQ(Read(R"({"sentence1": "a", "sentence2": "p", "label": -1}
{"sentence1": "a", "sentence2": "q", "label": 1})")
                .meaning,
            ScoreMeaning::kGrades);
}

TEST_F(LabelsOfColumns, BothLabelsOfOnePairMakeAPositive) {
  Warnings warnings;
  const Dataset dataset = Read(R"({"query": "a", "answer": "p", "label": 0}
{"query": "a", "answer": "p", "label": 1}
{"query": "a", "answer": "n", "label": 0})",
                               warnings);
  EXPECT_EQ(JudgedTexts(dataset, 0), "p=1/1@1 n=0/0@3");
  EXPECT_THAT(warnings.Messages(),
              ElementsAre("f.jsonl: texts that are positive and negative of one query, taken as "
                          "positive: 1 (first at line 2)"));
}

TEST_F(LabelsOfColumns, NullAndEmptyNegativesAreLeftOutWithTheirScores) {
  Warnings warnings;
  const Dataset dataset =
      Read(R"({"query": "a", "positive": "p", "negative_1": "n", "negative_2": null}
{"query": "b", "positive": "p", "negative": ["m", null, "", "o"], "scores": [0.9, 0.1, 0.2, 0.3, 0.4]}
{"query": "c", "positive": "p", "negative_1": null, "negative_2": "m", "scores": [1, null, 0.5]})",
           warnings);
  EXPECT_EQ(JudgedTexts(dataset, 0), "p=1@1 n=0@1");
  EXPECT_EQ(JudgedTexts(dataset, 1), "p=1/0.9@2 m=0/0.1@2 o=0/0.4@2");
  EXPECT_EQ(JudgedTexts(dataset, 2), "p=1/1@3 m=0/0.5@3");
  EXPECT_THAT(warnings.Messages(),
              ElementsAre("f.jsonl: negatives that are null or empty, left out: 4 (first at line "
                          "1)"));
  EXPECT_EQ(JudgedTexts(Read(R"({"query": "a", "answer": ["p", null], "labels": [1, 0]})"), 0),
            "p=1/1@1");
  EXPECT_EQ(ErrorOf(R"({"query": "a", "answer": ["p", null], "labels": [1, 1]})"),
            "f.jsonl:1: \"answer\" has null for a positive; expected a text");
  EXPECT_EQ(ErrorOf(R"({"query": "a", "positive": "p", "negative": "n", "scores": [1, null]})"),
            "f.jsonl:1: \"scores\" has no number for a document of \"negative\"");
  EXPECT_EQ(ErrorOf(R"({"query": "a", "positive": "p", "negative_1": "n", "negative_2": null, )"
                    R"("scores": [0.9, 0.1]})"),
            "f.jsonl:1: \"scores\" has 2 numbers for a positive and 2 negatives of which one is "
            "null: they could be margins, or scores of the documents that are there; give null for "
            "the null one too");
}

// Two rows of a query whose numbers cannot be compared are two queries with one text.
TEST_F(LabelsOfColumns, MarginsToSeveralPositivesStandApart) {
  const Dataset dataset = Read(R"({"query": "a", "positive": "p", "negative": "n", "label": 2}
{"query": "a", "positive": "q", "negative": "n", "label": 3}
{"query": "a", "positive": "p", "negative": "m", "label": 4}
{"query": "a", "positive": "p", "negative": "m", "scores": [9, 1]}
{"query": "a", "positive": "q", "negative": "o", "label": 5})");
  ASSERT_EQ(dataset.judged.size(), 3U);
  EXPECT_EQ(JudgedTexts(dataset, 0), "p=1/0@1 n=0/-2@1 m=0/-4@3");
  EXPECT_EQ(JudgedTexts(dataset, 1), "q=1/0@2 n=0/-3@2 o=0/-5@5");
  EXPECT_EQ(JudgedTexts(dataset, 2), "p=1/9@4 m=0/1@4");
  EXPECT_EQ(dataset.queries.text(0), dataset.queries.text(1));
  EXPECT_EQ(dataset.scores, ScoreKind::kMargins);
  EXPECT_EQ(dataset.meaning, ScoreMeaning::kTeacher);
  // Without positives and negatives scores are grades, which margins are not.
  EXPECT_THAT(
      ErrorOf(R"({"query": "a", "positive": "p", "negative": "n", "label": 2}
{"query": "a", "positive": ["q", "r"], "scores": [1, 0]})"),
      HasSubstr("f.jsonl:2: has a score for each document, where earlier lines have margins"));
}

TEST_F(LabelsOfFlagEmbedding, LabelsWinOverLists) {
  Warnings warnings;
  const Dataset dataset = Read(
      R"({"query": "a", "pos": ["p", "x"], "neg": ["n"], "pos_scores": [1, 0], "neg_scores": [0]}
{"query": "b", "pos": ["p"], "neg": ["n"], "pos_scores": ["1"], "neg_scores": [true]})",
      warnings);
  EXPECT_THAT(warnings.Messages(),
              ElementsAre("f.jsonl: documents labelled 0 in a list of positives, or 1 in one of "
                          "negatives, taken by their label: 2 (first at line 1)"));
  EXPECT_EQ(dataset.meaning, ScoreMeaning::kLabels);
  EXPECT_EQ(JudgedTexts(dataset, 0), "p=1/1@1 x=0/0@1 n=0/0@1");
  EXPECT_EQ(JudgedTexts(dataset, 1), "p=1/1@2 n=1/1@2");
}

TEST_F(LabelsOfFlagEmbedding, ATeachersScoresLeaveTheLists) {
  const Dataset dataset =
      Read(R"({"query": "a", "pos": ["p"], "neg": ["n"], "pos_scores": [0], "neg_scores": [0.7]})");
  EXPECT_EQ(dataset.meaning, ScoreMeaning::kTeacher);
  EXPECT_EQ(JudgedTexts(dataset, 0), "p=1/0@1 n=0/0.7@1");
}

TEST_F(LabelsOfFlagEmbedding, NullsAmongNegatives) {
  Warnings warnings;
  const Dataset dataset = Read(
      R"({"query": "a", "pos": ["p"], "neg": ["n", null, ""], "pos_scores": [2], "neg_scores": [1, null, 3]})",
      warnings);
  EXPECT_EQ(JudgedTexts(dataset, 0), "p=1/2@1 n=0/1@1");
  EXPECT_THAT(warnings.Messages(), ElementsAre("f.jsonl: negatives that are null or empty, left "
                                               "out: 2 (first at line 1)"));
  EXPECT_EQ(ErrorOf(R"({"query": "a", "pos": ["p", null]})"),
            "f.jsonl:1: \"pos\" has null for a positive; expected a text");
  EXPECT_EQ(ErrorOf(R"({"query": "a", "pos": ["p"], "pos_scores": [null]})"),
            "f.jsonl:1: \"pos_scores\" has null for a document of \"pos\"");
}

TEST_F(LabelsOfTevatron, LabelsWinOverLists) {
  const Dataset dataset = Read(
      R"({"query_id": 1, "query": "a", "positive_passages": [{"docid": 1, "text": "p", "score": 1}, {"docid": 2, "text": "x", "score": "0"}], "negative_passages": [{"docid": 3, "text": "n", "score": false}, null, {"docid": 4, "text": null}, {"docid": 5, "text": ""}]})");
  EXPECT_EQ(dataset.meaning, ScoreMeaning::kLabels);
  EXPECT_EQ(JudgedTexts(dataset, 0), "p=1/1@1 x=0/0@1 n=0/0@1");
}

TEST_F(LabelsOfTevatron, TextsWithoutIdsAreKnownByTheirText) {
  Warnings warnings;
  const Dataset dataset = Read(
      R"({"query": "a", "positive_passages": [{"title": "T", "text": "p"}], "negative_passages": [{"docid": null, "text": "n"}]}
{"query": "a", "positive_passages": [{"text": "n"}, {"title": "T", "text": "p"}]})",
      warnings);
  ASSERT_EQ(dataset.queries.size(), 1U);
  EXPECT_EQ(JudgedTexts(dataset, 0), "T p=1@1 n=1@2");
  EXPECT_EQ(dataset.queries.id(0), "1");
  EXPECT_EQ(dataset.documents.id(0), "1:positive_passages:1");
  EXPECT_EQ(dataset.documents.title(0), "T");
}

TEST_F(LabelsOfTevatron, IdsThatCountWithinALineGiveWayToTexts) {
  const std::string lines =
      R"({"query_id": 0, "query": "a", "positive_passages": [{"docid": 0, "text": "p"}]}
{"query_id": 0, "query": "b", "positive_passages": [{"docid": 0, "text": "q"}], "negative_passages": [{"docid": 1, "text": "p"}]})";
  EXPECT_EQ(ErrorOf(lines),
            "f.jsonl:2: query has another text here than in an earlier line; an id can have one "
            "text only. Where ids count within a line, data.ids = \"text\" in a recipe (--ids text "
            "elsewhere) goes by the texts (id 0)");
  const Dataset dataset = Read(lines, LineRules{.ids_of_texts = true});
  EXPECT_EQ(JudgedTexts(dataset, 0), "p=1@1");
  EXPECT_EQ(JudgedTexts(dataset, 1), "q=1@2 p=0@2");
  EXPECT_EQ(dataset.documents.size(), 2U);
}

TEST(LineRules, LabelsAndNumbers) {
  EXPECT_EQ(ParseLabelNumber(" a=b = -0.5")->label, "a=b");
  EXPECT_EQ(ParseLabelNumber("a=b=-0.5")->number, -0.5);
  for (const char* text : {"", "a", "a=", "a=b", "a=nan"}) {
    EXPECT_FALSE(ParseLabelNumber(text)) << text;
  }
  for (const char* text : {"", " ", "nan", "inf", "1x", "0x1", "1 0", "+-1", "1e999"}) {
    EXPECT_FALSE(NumberOfText(text)) << text;
  }
  EXPECT_EQ(NumberOfText("\t-1e-3 "), -1e-3);
  EXPECT_EQ(ParseLabelNumber(" =0")->label, "");
  const std::vector<LabelNumber> labels = {{"up", 1}, {"down", 0}, {"up", 1}, {"down", 1}};
  EXPECT_EQ(TwoNumbersProblem(labels), "has 1 for the label \"down\" and 0 before it");
  EXPECT_EQ(TwoNumbersProblem(std::span(labels).first(3)), "");
}

}  // namespace
}  // namespace tandem::data
