// Which judgements a measure can be computed on.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/captured_messages.h"
#include "support/error_matching.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"
#include "tensor/machine/process.h"
#include "tensor/profile/profile.h"
#include "train/validation/validator.h"

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

// A model on 40 documents, of which each of four queries has one.
class MeasureValidatorModel : public testing::Test {
 protected:
  MeasureValidatorModel() {
    tensor::SetUpProcess(1);
    WriteTinyModel(folder_.path() / "model");
    model_ = model::DualEncoder::Load(folder_.path() / "model");
    const std::vector<std::string> words = TinyWords();
    for (size_t d = 0; d < 40; ++d) {
      documents_.Add(fmt::format("d{}", d), words[d % words.size()] + " " + words[d / 4]);
    }
    for (uint32_t q = 0; q < 4; ++q) {
      queries_.Add(fmt::format("q{}", q), words[q] + " music");
      judged_.push_back({q, {{.document = 9 * q, .grade = 1}}});
    }
  }
  std::optional<Validated> Measure(const RankingMeasures& measures,
                                   const ValidationProgress& progress) {
    const CapturedMessages messages;
    return MakeMeasureValidator({&documents_, &queries_, judged_}, measures, {})
        ->Measure(*model_, {}, progress);
  }
  Validated Measure(const RankingMeasures& measures) {
    return *Measure(measures, [](double) { return true; });
  }

  TemporaryFolder folder_;
  std::unique_ptr<model::DualEncoder> model_;
  data::Texts documents_;
  data::Texts queries_;
  std::vector<data::JudgedQuery> judged_;
};

TEST_F(MeasureValidatorModel, FurtherMeasuresHaveTheValuesThatTheyHaveAlone) {
  const Validated all = Measure({.measure = "ndcg@10", .report = {"auc", "map", "mrr"}});
  ASSERT_EQ(all.further.size(), 3U);
  EXPECT_EQ(all.value, Measure({.measure = "ndcg@10"}).value);
  for (const MeasuredValue& further : all.further) {
    EXPECT_EQ(further.value, Measure({.measure = further.measure}).value) << further.measure;
    EXPECT_GT(further.value, 0) << further.measure;
  }
}

TEST_F(MeasureValidatorModel, APoolLeavesFewerDocumentsInTheWay) {
  const double whole = Measure({.measure = "map"}).value;
  EXPECT_EQ(Measure({.measure = "map", .pool = 40}).value, whole);
  const double some = Measure({.measure = "map", .pool = 12}).value;
  const double few = Measure({.measure = "map", .pool = 4}).value;
  EXPECT_GT(some, whole);
  EXPECT_GE(few, some);
  EXPECT_NE(Measure({.measure = "map", .pool = 12, .seed = 2}).value, some);
}

// The multiplications of a call, as the profile counts them.
template <typename Call>
double Flops(const Call& call) {
  tensor::Profile profile;
  const tensor::ActiveProfile active(&profile);
  call();
  double flops = 0;
  for (const tensor::Profile::Operation& done : profile.operations()) flops += done.work.flops;
  return flops;
}

// `train --check` waits for it: of many documents it encodes as many as take the memory of all.
TEST_F(MeasureValidatorModel, ItsBeginningIsASmallPartOfManyDocuments) {
  for (size_t d = 40; d < 4000; ++d) {
    std::string text = fmt::format("{}", d);
    for (int w = 0; w < 20; ++w) text += " music";
    documents_.Add(fmt::format("d{}", d), text);
  }
  const auto validator =
      MakeMeasureValidator({&documents_, &queries_, judged_}, {.measure = "map"}, {});
  const double begun = Flops([&] { validator->TryBeginning(*model_, {}); });
  const double whole = Flops([&] { validator->Measure(*model_, {}, [](double) { return true; }); });
  EXPECT_GT(begun, 0);
  EXPECT_LT(begun, whole / 5);
}

TEST_F(MeasureValidatorModel, ItsBeginningIsAllOfFewDocuments) {
  const auto validator =
      MakeMeasureValidator({&documents_, &queries_, judged_}, {.measure = "map"}, {});
  const double begun = Flops([&] { validator->TryBeginning(*model_, {}); });
  EXPECT_EQ(begun, Flops([&] { validator->Measure(*model_, {}, [](double) { return true; }); }));
}

TEST_F(MeasureValidatorModel, ProgressStopsIt) {
  EXPECT_FALSE(Measure({.measure = "map"}, [](double) { return false; }));
}

}  // namespace
}  // namespace tandem::train
