// Which judgements a measure can be computed on.
#include <gtest/gtest.h>

#include <string>

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
    MakeMeasureValidator(corpus, measure, /*relevance_level=*/1, {});
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

}  // namespace
}  // namespace tandem::train
