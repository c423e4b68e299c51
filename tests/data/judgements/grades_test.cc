#include "data/judgements/grades.h"

#include "data/data_test.h"
#include "data/formats/qrels_file.h"
#include "data/formats/sentence_transformers.h"
#include "data/read_dataset.h"

namespace tandem::data {
namespace {

Dataset Columns(std::string_view bytes) {
  Warnings warnings;
  LineReader reader("f.jsonl", bytes, warnings);
  return ReadColumns(reader);
}

// Query q2: d1 of grade 2, d2 of grade 1, d3 not judged; query q1: d3 of grade 0.
Dataset Judged() {
  BeirFolder folder;
  folder.Write("qrels/test.tsv", "q2\td1\t2\nq2\td2\t1\nq2\td3\t-1\nq1\td3\t0\n");
  Dataset dataset = ReadDataset(folder.path(), "auto", "test");
  dataset.file = "qrels.tsv";
  return dataset;
}

std::vector<double> Grades(const Dataset& dataset) {
  std::vector<double> grades;
  for (const JudgedQuery& query : dataset.judged) {
    for (const Judgement& judgement : query.judgements) grades.push_back(judgement.grade);
  }
  return grades;
}

TEST(ApplyScores, ScoresBecomeGradesOrStayATeachersOrGo) {
  const std::string_view lines = R"({"anchor": "a", "positive": "p", "score": 0.25}
{"anchor": "a", "positive": "n", "label": 1})";
  Dataset grades = Columns(lines);
  ApplyScores(grades, ScoreUse::kGrades);
  EXPECT_EQ(JudgedTexts(grades, 0), "p=0.25@1 n=1@2");
  EXPECT_TRUE(grades.has_grades);
  Dataset teacher = Columns(lines);
  ApplyScores(teacher, ScoreUse::kTeacher);
  EXPECT_EQ(JudgedTexts(teacher, 0), "p=1/0.25@1 n=1/1@2");
  EXPECT_FALSE(teacher.has_grades);
  Dataset ignored = Columns(lines);
  ApplyScores(ignored, ScoreUse::kIgnored);
  EXPECT_EQ(JudgedTexts(ignored, 0), "p=1@1 n=1@2");
}

TEST(ApplyScores, WhatCannotBeAGradeIsNamed) {
  const auto error = [](std::string_view lines) {
    Dataset dataset = Columns(lines);
    return DataErrorOf([&] { ApplyScores(dataset, ScoreUse::kGrades); });
  };
  EXPECT_EQ(error("{\"anchor\": \"a\", \"positive\": \"p\", \"score\": 1}\n"
                  "{\"anchor\": \"b\", \"positive\": \"x\", \"score\": null}"),
            "f.jsonl:2: has no score, where other documents of the file have a grade by theirs (id "
            "2:positive)");
  EXPECT_EQ(error(R"({"anchor": "a", "positive": "p"})"),
            "f.jsonl: has no scores that could be grades");
  EXPECT_EQ(
      error(R"({"anchor": "a", "positive": "p", "negative": "n", "label": 2})"),
      "f.jsonl: has margins between documents, which are no grades; they serve as a teacher's "
      "scores only");
}

TEST(ScaleGrades, TakesGradesToTheUnitInterval) {
  Dataset judged = Judged();
  ScaleGrades(judged, {.scale = GradeScale{0, 2}});
  EXPECT_THAT(Grades(judged), testing::ElementsAre(1, 0.5, -1, 0));  // -1: not judged
  Dataset columns = Columns(R"({"anchor": "a", "positive": "p", "score": 1}
{"anchor": "a", "positive": "n", "score": 4})");
  ApplyScores(columns, ScoreUse::kGrades);
  ScaleGrades(columns, {.scale = GradeScale{1, 5}});
  EXPECT_THAT(Grades(columns), testing::ElementsAre(0, 0.75));  // a 1..5 judge: 1 is 0
}

TEST(ScaleGrades, WithoutScaleGradesStayAsTheyAre) {
  Dataset judged = Judged();
  ScaleGrades(judged, {});
  EXPECT_THAT(Grades(judged), testing::ElementsAre(2, 1, -1, 0));
}

TEST(ScaleGrades, AGradeOutsideIsNamedWithItsLine) {
  const auto error = [](Dataset dataset, const GradeRules& rules) {
    return DataErrorOf([&] { ScaleGrades(dataset, rules); });
  };
  EXPECT_EQ(error(Judged(), {.scale = GradeScale{0, 1.5}}),
            "qrels.tsv:1: query q2, document d1: grade 2 is outside data.grade_scale = [0, 1.5]");
  EXPECT_EQ(error(Judged(), {.scale = GradeScale{1, 5}}),
            "qrels.tsv:4: query q1, document d3: grade 0 is outside data.grade_scale = [1, 5]");
  EXPECT_EQ(error(Judged(), {.reason = "objective bixse needs"}),
            "qrels.tsv:1: query q2, document d1: grade 2 is outside [0, 1], which objective bixse "
            "needs; give data.grade_scale = [lowest, highest]");
  EXPECT_EQ(error(Judged(), {.scale = GradeScale{-0.5, 2}}),  // below 0 is a grade then
            "qrels.tsv:3: query q2, document d3: grade -1 is outside data.grade_scale = [-0.5, 2]");
  Dataset scored = Columns(R"({"anchor": "a", "positive": "p", "score": -3})");
  ApplyScores(scored, ScoreUse::kGrades);  // a score below 0 is never "not judged"
  EXPECT_EQ(
      DataErrorOf([&] {
        ScaleGrades(scored, {.scale = GradeScale{0, 2}});
      }),
      "f.jsonl:1: query 1, document 1:positive: grade -3 is outside data.grade_scale = [0, 2]");
}

}  // namespace
}  // namespace tandem::data
