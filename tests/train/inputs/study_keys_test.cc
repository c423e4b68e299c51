// data.swap_labels and data.limit, from files to the training queries of a run.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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

using testing::EndsWith;

class StudyKeys : public testing::Test {
 protected:
  StudyKeys() {
    WriteTinyData(folder_.path(), kWords);  // 48 queries, each with grades 2, 1 and 0
    data().train = folder_.path().native();
    data().positive_grade = 2;
  }
  RunData Read() const { return ReadRunData(loaded_, kPlain); }
  std::vector<uint32_t> Limited(int64_t limit) {
    data().limit = limit;
    return Read().training;
  }
  config::DataRecipe& data() { return loaded_.recipe.data; }

  TemporaryFolder folder_;
  config::LoadedRecipe loaded_{.file = "recipe.toml"};
};

TEST_F(StudyKeys, SwapsAreThoseOfTheTrainingQueriesAndOfTheSeed) {
  data().swap_labels = 1;
  loaded_.recipe.validation.holdout = config::Quantity::Count(12);
  const CapturedMessages said;
  const RunData run = Read();
  EXPECT_THAT(said.text(),
              EndsWith("data.swap_labels exchanged 36 of 36 positives with a negative\n"));
  for (const uint32_t e : run.training) {
    const uint32_t document = run.set.examples[e].positives.at(0).document;
    EXPECT_EQ(document, e + 2);
    EXPECT_EQ(run.set.examples[e].positives.size(), 1U);
  }
  for (const uint32_t e : run.held_out) {
    EXPECT_EQ(run.set.examples[e].positives.at(0).document, e);
  }
  data().swap_labels = 0.5;
  const auto positives = [&] {
    std::vector<uint32_t> documents;
    for (const data::TrainingQuery& query : Read().set.examples) {
      documents.push_back(query.positives.at(0).document);
    }
    return documents;
  };
  const std::vector<uint32_t> first = positives();
  EXPECT_EQ(positives(), first);
  loaded_.recipe.validation.holdout.reset();
  const std::vector<uint32_t> all = positives();
  loaded_.recipe.seed = 2;
  EXPECT_NE(positives(), all);
}

TEST_F(StudyKeys, SwapsLeaveQueriesWithoutANegativeAndNeedOneThatHasOne) {
  data().train = (folder_.path() / "f.jsonl").native();
  data().positive_grade = 1;
  data().swap_labels = 1;
  WriteFileAtomically(folder_.path() / "f.jsonl",
                      "{\"query\": \"a\", \"pos\": [\"p\"], \"neg\": [\"n\"]}\n"
                      "{\"query\": \"b\", \"pos\": [\"q\"]}\n");
  const CapturedMessages said;
  const RunData run = Read();
  EXPECT_THAT(
      said.text(),
      EndsWith(
          "data.swap_labels exchanged 1 of 2 positives with a negative; 1 of 2 training queries "
          "have no document judged 0 and stay as they are\n"));
  EXPECT_EQ(run.set.documents.text(run.set.examples[0].positives.at(0).document), "n");
  EXPECT_EQ(run.set.documents.text(run.set.examples[1].positives.at(0).document), "q");
  WriteFileAtomically(folder_.path() / "f.jsonl",
                      "{\"query\": \"a\", \"pos\": [\"p\", \"r\", \"s\"], \"neg\": [\"n\"]}\n"
                      "{\"query\": \"b\", \"pos\": [\"q\"], \"neg\": [\"m\"]}\n");
  const CapturedMessages of_few;
  Read();
  EXPECT_THAT(of_few.text(),
              EndsWith("data.swap_labels exchanged 2 of 4 positives with a negative\nwarning: "
                       "data.swap_labels: 2 further positives were drawn and stay as they are, "
                       "because their queries have fewer documents judged 0 than positives that "
                       "were drawn: less is exchanged than 1 says\n"));
  WriteFileAtomically(
      folder_.path() / "f.jsonl",
      "{\"query\": \"a\", \"pos\": [\"p\"]}\n{\"query\": \"b\", \"pos\": [\"q\"]}\n");
  ExpectError([&] { Read(); }, ExitCode::kData,
              {"f.jsonl: no training query has both a positive and a document judged 0, which "
               "data.swap_labels exchanges; give judged negatives"});
}

TEST_F(StudyKeys, ALimitDrawsByTheSeedAndSmallerOnesAreWithinLargerOnes) {
  const std::vector<uint32_t> ten = Limited(10), thirty = Limited(30);
  ASSERT_EQ(ten.size(), 10U);
  ASSERT_EQ(thirty.size(), 30U);
  EXPECT_TRUE(std::is_sorted(ten.begin(), ten.end()));
  EXPECT_TRUE(std::includes(thirty.begin(), thirty.end(), ten.begin(), ten.end()));
  EXPECT_GT(ten.back(), 9U) << "the first ten of the file are no draw";
  EXPECT_EQ(Limited(10), ten);
  loaded_.recipe.seed = 2;
  EXPECT_NE(Limited(10), ten);
}

TEST_F(StudyKeys, ALimitComesAfterWhatLeavesQueriesOut) {
  loaded_.recipe.validation.holdout = config::Quantity::Count(8);
  const CapturedMessages said;
  EXPECT_EQ(Limited(38).size(), 38U);
  EXPECT_THAT(said.text(), EndsWith("data.limit leaves 38 of 40 training queries\n"));
  EXPECT_EQ(Limited(41).size(), 40U);
  EXPECT_THAT(said.text(),
              EndsWith("data.limit is 41, but there are 40 training queries: all are taken\n"));
  EXPECT_EQ(Read().held_out.size(), 8U);
}

TEST_F(StudyKeys, ALimitThatLeavesASourceWithoutQueriesIsSaid) {
  WriteFileAtomically(folder_.path() / "f.jsonl", "{\"query\": \"a\", \"pos\": [\"p\"]}\n");
  data().sources.resize(2);
  data().sources[0].path = folder_.path().native();
  data().sources[1].path = (folder_.path() / "f.jsonl").native();
  data().train.clear();
  EXPECT_EQ(Limited(49).size(), 49U);
  ExpectError([&] { Limited(1); }, ExitCode::kData,
              {"brings no query to train on", "data.limit left none"});
}

}  // namespace
}  // namespace tandem::train
