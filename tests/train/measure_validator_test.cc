// Which judgements a measure can be computed on.
#include <gtest/gtest.h>

#include <string>

#include "base/captured_messages.h"
#include "base/temporary_folder.h"
#include "train/validator.h"
#include "weights/error_matching.h"

namespace tandem::train {
namespace {

class MeasureValidatorData : public testing::Test {
 protected:
  MeasureValidatorData() {
    documents_.Add("d0", "red");
    documents_.Add("d1", "green");
    queries_.Add("q0", "red");
  }
  void Make(const std::string& measure, double grade) {
    const JudgedCorpus corpus{&documents_, &queries_, {{0, {{.document = 0, .grade = grade}}}}};
    MakeMeasureValidator(corpus, {.measure = measure}, {});
  }
  void ExpectRefused(const std::string& measure, double grade, const std::string& text) {
    ExpectError([&] { Make(measure, grade); }, ExitCode::kData, {text});
  }

  data::Texts documents_;
  data::Texts queries_;
};

TEST_F(MeasureValidatorData, GradesBelowThePositiveGradeAreGainsOfNdcg) {
  EXPECT_NO_THROW(Make("ndcg@10", 0.6));
  EXPECT_NO_THROW(Make("ndcg", 0.6));
  ExpectRefused("ndcg@10", 0,
                "none of its 1 judged queries has a document of grade above 0, so that ndcg@10 "
                "would always be 0");
}

TEST_F(MeasureValidatorData, OtherMeasuresNeedAPositive) {
  for (const std::string measure : {"mrr@10", "recall@10", "auc"}) {
    EXPECT_NO_THROW(Make(measure, 1));
    ExpectRefused(measure, 0.6,
                  "none of its 1 judged queries has a document of grade 1 or more "
                  "(data.positive_grade), so that " +
                      measure + " would always be 0");
  }
}

TEST_F(MeasureValidatorData, FurtherMeasuresNeedOneToo) {
  const JudgedCorpus corpus{&documents_, &queries_, {{0, {{.document = 0, .grade = 0.6}}}}};
  ExpectError([&] { MakeMeasureValidator(corpus, {.measure = "ndcg@10", .report = {"map"}}, {}); },
              ExitCode::kData, {"so that map would always be 0"});
}

TEST_F(MeasureValidatorData, SaysHowManyDocumentsAreRanked) {
  const JudgedCorpus corpus{&documents_, &queries_, {{0, {{.document = 0, .grade = 1}}}}};
  const CapturedMessages messages;
  const auto whole = MakeMeasureValidator(corpus, {.measure = "mrr@10"}, {});
  EXPECT_EQ(whole->ranked().documents, 2U);
  EXPECT_EQ(messages.text(), "");
  const auto pooled = MakeMeasureValidator(corpus, {.measure = "mrr@10", .pool = 1}, {});
  EXPECT_EQ(pooled->ranked().documents, 1U);
  EXPECT_EQ(pooled->ranked().corpus, 2U);
  EXPECT_EQ(messages.text(), "validation on a pool of 1 of 2 documents (1 of them judged)\n");
}

}  // namespace
}  // namespace tandem::train
