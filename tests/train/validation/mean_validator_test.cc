#include "train/validation/mean_validator.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "train/bag_encoder.h"

namespace tandem::train {
namespace {

// Measures nothing and says what it was made with; `begun` counts calls of TryBeginning.
class FixedValidator final : public Validator {
 public:
  FixedValidator(double value, size_t documents, int* begun)
      : value_(value), documents_(documents), begun_(begun) {}

  std::optional<Validated> Measure(model::DualEncoder&, const ObjectiveStates&,
                                   const ValidationProgress& progress) override {
    if (!progress(0) || !progress(1)) return std::nullopt;
    return Validated{.value = value_, .further = {{"map", 2 * value_}}, .queries = {{"q", value_}}};
  }
  void TryBeginning(model::DualEncoder&, const ObjectiveStates&) override { ++*begun_; }
  double EstimateSeconds(model::DualEncoder&, const ObjectiveStates&) override {
    return static_cast<double>(documents_) / 5;
  }
  std::string name() const override { return "ndcg@10"; }
  bool Better(double value, double other) const override { return value > other; }
  RankedCorpus ranked() const override { return {documents_, 2 * documents_, 3}; }
  size_t queries() const override { return 10; }

 private:
  double value_;
  size_t documents_;
  int* begun_;
};

class MeanValidatorOfTwo : public testing::Test {
 protected:
  MeanValidatorOfTwo() {
    std::vector<ValidatorOfSource> sources;
    sources.push_back({"small", std::make_unique<FixedValidator>(0.5, 10, &begun_[0])});
    sources.push_back({"large", std::make_unique<FixedValidator>(0.25, 50, &begun_[1])});
    mean_ = MakeMeanValidator(std::move(sources));
  }

  model::BagEncoder model_;
  int begun_[2] = {0, 0};
  std::unique_ptr<Validator> mean_;
};

TEST_F(MeanValidatorOfTwo, EachWeighsTheSameAndIsNamed) {
  const std::optional<Validated> found = mean_->Measure(model_, {}, [](double) { return true; });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->value, 0.375);
  ASSERT_EQ(found->sources.size(), 2U);
  EXPECT_EQ(found->sources[0].source, "small");
  EXPECT_EQ(found->sources[0].value, 0.5);
  EXPECT_EQ(found->sources[1].source, "large");
  EXPECT_EQ(found->sources[1].value, 0.25);
  ASSERT_EQ(found->further.size(), 1U);
  EXPECT_EQ(found->further[0].measure, "map");
  EXPECT_EQ(found->further[0].value, 0.75);
  EXPECT_TRUE(found->queries.empty());
}

TEST_F(MeanValidatorOfTwo, IsAsLargeAsBothAndTriesTheLargest) {
  EXPECT_EQ(mean_->queries(), 20U);
  EXPECT_EQ(mean_->ranked().documents, 60U);
  EXPECT_EQ(mean_->ranked().corpus, 120U);
  EXPECT_EQ(mean_->ranked().judged, 6U);
  EXPECT_EQ(mean_->EstimateSeconds(model_, {}), 2 + 10);
  EXPECT_EQ(mean_->name(), "ndcg@10");
  EXPECT_TRUE(mean_->Better(0.5, 0.25));
  mean_->TryBeginning(model_, {});
  EXPECT_EQ(begun_[0], 0);
  EXPECT_EQ(begun_[1], 1);
}

// By texts: 20 of 80 are the small one's.
TEST_F(MeanValidatorOfTwo, ProgressGoesOnFromOneToTheNextAndStopsBoth) {
  std::vector<double> shares;
  mean_->Measure(model_, {}, [&](double share) {
    shares.push_back(share);
    return true;
  });
  EXPECT_EQ(shares, (std::vector<double>{0, 0.25, 0.25, 1}));
  EXPECT_FALSE(mean_->Measure(model_, {}, [](double share) { return share < 1; }));
}

}  // namespace
}  // namespace tandem::train
