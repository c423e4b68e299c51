// `data.negatives`: what the training queries have, and what is used without the key.
#include "train/inputs/extra_documents.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/captured_messages.h"
#include "support/error_matching.h"
#include "support/temporary_folder.h"
#include "train/inputs/run_data.h"
#include "train/inputs/source_cases.h"
#include "train/tiny_data.h"

namespace tandem::train {
namespace {

using testing::HasSubstr;

constexpr objective::Needs kRanking;

class ExtraDocuments : public testing::Test {
 protected:
  ExtraDocuments() {
    loaded_.recipe.objective.name = "some_loss";
    loaded_.recipe.data.train = (folder_.path() / "f.jsonl").native();
  }

  void Write(const std::string& lines) { WriteFileAtomically(folder_.path() / "f.jsonl", lines); }

  ExtraCounts Resolve(const objective::Needs& needs) {
    const RunData data = ReadRunData(loaded_, needs);
    return ResolveNegatives(loaded_, data.set, data.training, needs);
  }
  // What is found where the recipe does not say how many are used.
  std::string Found() {
    loaded_.recipe.data.negatives.reset();
    return Resolve(kRanking).Text();
  }
  // What is used where the recipe does not say.
  int64_t Default(const objective::Needs& needs) {
    loaded_.recipe.data.negatives.reset();
    Resolve(needs);
    return *loaded_.recipe.data.negatives;
  }

  TemporaryFolder folder_;
  config::LoadedRecipe loaded_{.file = "recipe.toml"};
};

// Queries with 0, 1, 2, ... negatives: as many as `counts` says.
std::string Columns(const std::vector<int>& counts) {
  std::string lines;
  for (size_t q = 0; q < counts.size(); ++q) {
    lines += fmt::format("{{\"anchor\": \"q{0}\", \"positive\": \"p{0}\"", q);
    for (int n = 0; n < counts[q]; ++n) {
      lines += fmt::format(", \"negative_{0}\": \"n{1} {0}\"", n + 1, q);
    }
    lines += "}\n";
  }
  return lines;
}

TEST_F(ExtraDocuments, TheLowerMedianOfWhatQueriesHave) {
  const std::vector<std::pair<std::vector<int>, int64_t>> cases = {
      {{1, 1, 1}, 1}, {{0, 0, 3}, 0}, {{0, 2, 5}, 2}, {{1, 2, 3, 9}, 2}, {{9, 12, 9}, 7}};
  for (const auto& [counts, median] : cases) {
    Write(Columns(counts));
    EXPECT_EQ(Default(kRanking), median) << fmt::format("{}", fmt::join(counts, " "));
  }
}

TEST_F(ExtraDocuments, EveryFormatsNegativesAreFound) {
  Write(R"({"query": "a", "pos": ["p"], "neg": ["n", "o"]})");
  EXPECT_EQ(Default(kRanking), 2);
  Write(R"({"query_id": "1", "query": "a", "positive_passages": [{"docid": "p", "text": "p"}],)"
        R"( "negative_passages": [{"docid": "n", "text": "n"}]})");
  EXPECT_EQ(Default(kRanking), 1);
  // Grades 2, 1 and 0 for each query: with positives from 2 on, grade 1 is related, no negative.
  WriteTinyData(folder_.path() / "beir", {"red", "green", "blue"});
  loaded_.recipe.data.train = (folder_.path() / "beir").native();
  loaded_.recipe.data.positive_grade = 2;
  EXPECT_EQ(Default(kRanking), 1);
  loaded_.recipe.data.grade_scale = config::Range{0, 2};
  EXPECT_EQ(Default(kGraded), 2);
}

TEST_F(ExtraDocuments, SaysWhatIsThere) {
  Write(Columns({1, 1}));
  EXPECT_EQ(Found(), "2 of 2 training queries have judged negatives (1 each)");
  Write(Columns({0, 5, 2}));
  EXPECT_EQ(Found(), "2 of 3 training queries have judged negatives (0 to 5, lower median 2)");
  Write(Columns({0, 0}));
  EXPECT_EQ(Found(), "no training query has judged negatives");
}

TEST_F(ExtraDocuments, AskedForAndNotThere) {
  Write(Columns({0, 0}));
  loaded_.recipe.data.negatives = 3;
  ExpectError([&] { Resolve(kRanking); }, ExitCode::kData,
              {"f.jsonl: no training query has judged negatives, but data.negatives asks for 3: "
               "data.negatives = 0 trains without them; `tandem mine` finds hard negatives, and "
               "`tandem import --label COLUMN` makes them of labels"});
  loaded_.recipe.data.negatives = 0;
  EXPECT_NO_THROW(Resolve(kRanking));
}

TEST_F(ExtraDocuments, FewerThanAskedForAreAWarning) {
  Write(Columns({0, 2, 5}));
  const auto warning = [&](int64_t asked) {
    loaded_.recipe.data.negatives = asked;
    const CapturedMessages captured;
    Resolve(kRanking);
    return captured.text();
  };
  EXPECT_THAT(warning(5),
              HasSubstr("data.negatives = 5, but 2 of 3 training queries have fewer judged "
                        "negatives (1 of them none); they bring what they have"));
  EXPECT_EQ(loaded_.recipe.data.negatives, 5);
  EXPECT_THAT(warning(2), HasSubstr("1 of 3 training queries have fewer"));
  Write(Columns({5, 5}));
  EXPECT_EQ(warning(5), "");
}

TEST_F(ExtraDocuments, WhatWillBeMinedCounts) {
  loaded_.recipe.mining.every = config::Quantity::Count(5);
  loaded_.recipe.mining.negatives = 3;
  Write(Columns({0, 0, 0}));
  EXPECT_EQ(Default(kRanking), 1);
  Write(Columns({2, 2, 4}));
  EXPECT_EQ(Default(kRanking), 2);
  const CapturedMessages messages;
  loaded_.recipe.data.negatives = 5;
  Resolve(kRanking);
  EXPECT_EQ(messages.text(), "");
  loaded_.recipe.data.negatives = 6;
  Resolve(kRanking);
  EXPECT_THAT(messages.text(),
              HasSubstr("data.negatives = 6, but 2 of 3 training queries have fewer judged "
                        "negatives, the 3 mined ones counted; they bring what they have"));
  loaded_.recipe.data.negatives = 8;
  EXPECT_THROW(Resolve(kRanking), RecipeError);
}

TEST_F(ExtraDocuments, ATeacherNeedsSomethingToCompare) {
  Write(
      "{\"query\": \"a\", \"pos\": [\"p\"], \"pos_scores\": [1]}\n"
      "{\"query\": \"b\", \"pos\": [\"q\"], \"pos_scores\": [1]}\n"
      "{\"query\": \"c\", \"pos\": [\"r\"], \"neg\": [\"n\"], \"pos_scores\": [1], "
      "\"neg_scores\": [0]}\n");
  ExpectError([&] { Resolve(kTeacher); }, ExitCode::kUsage,
              {"data.negatives would be 0, the lower median over the training queries, but "
               "objective some_loss compares labelled documents of one query; give at least 1"});
}

TEST_F(ExtraDocuments, CountsOwnDocumentsByWhatTheyMayBe) {
  Write(R"({"query": "a", "pos": ["p"], "neg": ["n", "o"]})");
  const RunData data = ReadRunData(loaded_, kRanking);
  const LabelCount positives = CountLabels(data.set, data.training, false);
  EXPECT_EQ(positives.documents, 1U);
  EXPECT_EQ(positives.name, "positives");
  const LabelCount labelled = CountLabels(data.set, data.training, true);
  EXPECT_EQ(labelled.documents, 3U);
  EXPECT_EQ(labelled.name, "labelled documents");
}

}  // namespace
}  // namespace tandem::train
