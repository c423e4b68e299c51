// Several data sets in one run: [[data.source]].
#include <gtest/gtest.h>

#include <map>

#include "base/captured_messages.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "train/label_keys.h"
#include "train/run_data.h"
#include "train/tiny_data.h"
#include "weights/error_matching.h"

namespace tandem::train {
namespace {

constexpr objective::Needs kPlain;
constexpr objective::Needs kGraded = {.grades = true, .graded_own = true};
constexpr objective::Needs kTeacher = {.teacher = true, .graded_own = true};

const std::vector<std::string> kWords = {"red", "green", "blue", "black", "white"};

class SourcesTest : public testing::Test {
 protected:
  // Grades 2, 1 and 0 for each of 48 queries.
  std::string Graded() {
    WriteTinyData(folder_.path() / "graded", kWords);
    return (folder_.path() / "graded").native();
  }
  std::string Lines(const std::string& name, const std::string& lines) {
    WriteFileAtomically(folder_.path() / name, lines);
    return (folder_.path() / name).native();
  }
  std::string Binary() {
    return Lines("binary.jsonl", R"({"query": "a", "pos": ["p"], "neg": ["n"]}
{"query": "b", "pos": ["r"], "neg": ["p"]}
)");
  }
  void Use(const std::vector<std::string>& paths) {
    loaded_.recipe.data.sources.clear();
    for (const std::string& path : paths) loaded_.recipe.data.sources.push_back({.path = path});
  }
  config::DataRecipe& data() { return loaded_.recipe.data; }

  TemporaryFolder folder_;
  config::LoadedRecipe loaded_{.file = "recipe.toml"};
};

// How many judgements of training have each grade.
std::map<double, int> Grades(const RunData& data) {
  std::map<double, int> grades;
  for (const uint32_t e : data.training) {
    const data::TrainingQuery& query = data.set.examples[e];
    for (const auto* list : {&query.positives, &query.others}) {
      for (const data::Judgement& judgement : *list) ++grades[judgement.grade];
    }
  }
  return grades;
}

using Counts = std::map<double, int>;

TEST_F(SourcesTest, OneAloneTrainsTheSameAsWithoutAList) {
  data().train = Graded();
  const RunData alone = ReadRunData(loaded_);
  Use({Graded()});
  const RunData listed = ReadRunData(loaded_);
  ASSERT_EQ(listed.set.examples.size(), alone.set.examples.size());
  EXPECT_EQ(*listed.set.queries.hashes(), *alone.set.queries.hashes());
  EXPECT_EQ(*listed.set.documents.hashes(), *alone.set.documents.hashes());
  EXPECT_EQ(Grades(listed), Grades(alone));
}

TEST_F(SourcesTest, GradedAndBinaryOnesStandBesideEachOther) {
  Use({Graded(), Binary()});
  data().grade_scale = config::Range{0, 2};
  const RunData data = ReadRunData(loaded_, kGraded);
  EXPECT_EQ(Grades(data), (Counts{{0, 50}, {0.5, 48}, {1, 50}}));
  EXPECT_EQ(data.set.examples.size(), 50U);
  EXPECT_EQ(data.set.documents.size(), 63U);
  EXPECT_EQ(data.set.documents.text(data.set.examples[48].positives.at(0).document), "p");
}

TEST_F(SourcesTest, APositiveOfLinesIsAPositiveAtAnyGrade) {
  Use({Graded(), Binary()});
  data().positive_grade = 2;
  const RunData data = ReadRunData(loaded_, kPlain);
  EXPECT_EQ(Grades(data), (Counts{{0, 50}, {1, 48}, {2, 50}}));
  EXPECT_EQ(data.set.queries_without_positive, 0U);
}

TEST_F(SourcesTest, TextsOfTwoSourcesAreCopiesOfEachOther) {
  const std::string first = Lines("1.jsonl", R"({"query": "a", "pos": ["p"]})");
  const std::string second = Lines("2.jsonl", R"({"query": "a", "pos": ["q"], "neg": ["p"]})");
  Use({first, second});
  const RunData data = ReadRunData(loaded_);
  ASSERT_EQ(data.set.documents.size(), 3U);
  EXPECT_EQ(data.set.document_hashes[0], data.set.document_hashes[2]);
  EXPECT_EQ(data.set.query_hashes[0], data.set.query_hashes[1]);
  EXPECT_EQ(data.set.examples.size(), 2U);
}

TEST_F(SourcesTest, EachReadsItsOwnFormatAndSplit) {
  const std::string graded = Graded();
  Use({graded, Binary()});
  data().sources[0].split = "dev";
  data().sources[1].format = "flag_embedding";
  EXPECT_EQ(ReadRunData(loaded_).set.examples.size(), 18U);
  data().sources[1].format = "tevatron";
  ExpectError([&] { ReadRunData(loaded_); }, ExitCode::kData, {"binary.jsonl:1: has no"});
  data().sources[1] = {.path = Binary(), .split = "dev"};
  ExpectError([&] { ReadRunData(loaded_); }, ExitCode::kUsage,
              {"data.source.2.split does nothing here", "binary.jsonl is a file of lines"});
}

TEST_F(SourcesTest, TheOrderOfSourcesIsPartOfTheData) {
  const std::string graded = Graded();
  const std::string binary = Binary();
  Use({graded, binary});
  const uint64_t fingerprint = ReadRunData(loaded_).fingerprint;
  EXPECT_EQ(ReadRunData(loaded_).fingerprint, fingerprint);
  Use({binary, graded});
  EXPECT_NE(ReadRunData(loaded_).fingerprint, fingerprint);
}

TEST_F(SourcesTest, WhatAnObjectiveNeedsIsAskedOfThem) {
  Use({Binary(), Binary()});
  ExpectError([&] { ReadRunData(loaded_, kGraded); }, ExitCode::kData,
              {"binary.jsonl: has no grades"});
  data().binarize_at = 1;
  EXPECT_EQ(Grades(ReadRunData(loaded_, kGraded)), (Counts{{0, 4}, {1, 4}}));
  data().binarize_at.reset();
  const std::string taught =
      Lines("taught.jsonl",
            R"({"query": "a", "pos": ["p"], "neg": ["n"], "pos_scores": [2], "neg_scores": [1]})");
  Use({taught, Binary()});
  ExpectError([&] { ReadRunData(loaded_, kTeacher); }, ExitCode::kData,
              {"binary.jsonl: has no teacher scores"});
  Use({taught, taught});
  EXPECT_EQ(ReadRunData(loaded_, kTeacher).set.examples.size(), 2U);
}

TEST_F(SourcesTest, ScoresOfTheirLinesAreUsedAsTheRecipeSays) {
  const std::string pairs = Lines("pairs.jsonl", R"({"anchor": "a", "positive": "p", "score": 0.25}
{"anchor": "a", "positive": "q", "score": 0.5}
)");
  Use({pairs, Binary()});
  EXPECT_EQ(Grades(ReadRunData(loaded_, kGraded)), (Counts{{0, 2}, {0.25, 1}, {0.5, 1}, {1, 2}}));
  data().scores = "ignored";
  EXPECT_EQ(Grades(ReadRunData(loaded_, kPlain)), (Counts{{0, 2}, {1, 4}}));
}

TEST_F(SourcesTest, GradesOutsideTheScaleNameTheirOwnFile) {
  Use({Binary(), Graded()});
  ExpectError([&] { ReadRunData(loaded_, kGraded); }, ExitCode::kData,
              {"graded/qrels/train.tsv:2: query q0, document d0: grade 2 is outside [0, 1]"});
}

TEST_F(SourcesTest, EachIsNamedWithItsSize) {
  const CapturedMessages messages;
  const std::string graded = Graded();
  const std::string binary = Binary();
  Use({graded, binary});
  ReadRunData(loaded_);
  EXPECT_EQ(messages.text(), "source " + graded + ": 48 judged queries, 60 documents\nsource " +
                                 binary + ": 2 judged queries, 3 documents\n");
}

}  // namespace
}  // namespace tandem::train
