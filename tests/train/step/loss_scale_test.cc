#include "train/step/loss_scale.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "optim/optimizer.h"
#include "support/tensors.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "train/step/updater.h"

namespace tandem::train {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(LossScale, IsOneWhereItIsOff) {
  LossScale scale({.on = false, .start = 8});
  EXPECT_EQ(scale.value(), 1);
  for (int step = 0; step < 3000; ++step) scale.Count(true);
  EXPECT_EQ(scale.value(), 1);
  EXPECT_THROW(scale.Count(false), NumericError);
}

TEST(LossScale, DoublesAfterFiniteStepsAndHalvesAtAnOverflow) {
  LossScale scale({.on = true});
  EXPECT_EQ(scale.value(), 65536);
  for (int step = 0; step < 1999; ++step) scale.Count(true);
  EXPECT_EQ(scale.value(), 65536);
  scale.Count(true);
  EXPECT_EQ(scale.value(), 131072);
  scale.Count(true);
  scale.Count(false);
  EXPECT_EQ(scale.value(), 65536);
  for (int step = 0; step < 1999; ++step) scale.Count(true);  // in a row, from the overflow on
  EXPECT_EQ(scale.value(), 65536);
  scale.Count(true);
  EXPECT_EQ(scale.value(), 131072);
}

TEST(LossScale, AtOneAnOverflowIsAnError) {
  LossScale scale({.on = true, .start = 3});
  scale.Count(false);
  EXPECT_EQ(scale.value(), 1.5);
  scale.Count(false);
  EXPECT_EQ(scale.value(), 1);
  EXPECT_THROW(scale.Count(false), NumericError);
}

TEST(LossScale, GoesOnFromItsState) {
  LossScale scale({.on = true, .start = 16, .growth_steps = 5}), other(scale);
  for (int step = 0; step < 3; ++step) scale.Count(true);
  scale.Count(false);
  for (int step = 0; step < 3; ++step) scale.Count(true);
  Json state;
  scale.VisitState(StateVisitor::Writer(state));
  other.VisitState(StateVisitor::Reader(state));
  for (int step = 0; step < 2; ++step) {
    EXPECT_EQ(other.value(), 8);
    other.Count(true);
  }
  EXPECT_EQ(other.value(), 16);
}

tensor::Tensor Fours(float value) { return tensor::Full({4}, value, tensor::kFloat); }

class ScaledUpdates : public testing::Test {
 protected:
  static std::vector<model::NamedParameter> Parameter(const tensor::Tensor& value) {
    return {{.name = "p", .value = value.clone().set_requires_grad(true)}};
  }
  static UpdateOptions Options(bool scaled) {
    return {.learning_rate = 0.1,
            .clip = 0.5,
            .steps = 10,
            .loss_scale = {.on = scaled, .start = 1024}};
  }

  std::vector<model::NamedParameter> plain_ = Parameter(Fours(1));
  std::vector<model::NamedParameter> scaled_ = Parameter(Fours(1));
  optim::Optimizer plain_optimizer_{optim::kAdamW, plain_};
  optim::Optimizer scaled_optimizer_{optim::kAdamW, scaled_};
  optim::Optimizer nothing_{optim::kAdamW, {}};
  Updater plain_updater_{plain_optimizer_, nothing_, optim::kConstant, Options(false)};
  Updater scaled_updater_{scaled_optimizer_, nothing_, optim::kConstant, Options(true)};
};

// A scale is a power of two: nothing is rounded but what was too small without it.
TEST_F(ScaledUpdates, AreThoseOfThePlainGradient) {
  for (int step = 0; step < 3; ++step) {
    const double scale = scaled_updater_.loss_scale().value();
    const tensor::Tensor gradient = Fours(0.3F * static_cast<float>(step + 1));
    plain_[0].value.set_grad(gradient);
    scaled_[0].value.set_grad(tensor::Mul(gradient, scale));
    const UpdateReport plain = plain_updater_.Step(step, 0.5);
    const UpdateReport scaled = scaled_updater_.Step(step, 0.5);
    EXPECT_EQ(scaled.gradient_norm, plain.gradient_norm);
    EXPECT_FALSE(scaled.skipped);
    EXPECT_TRUE(AreEqual(scaled_[0].value, plain_[0].value));
  }
}

TEST_F(ScaledUpdates, AnOverflowChangesNothingButTheScale) {
  scaled_[0].value.set_grad(Fours(kInfinity));
  const UpdateReport report = scaled_updater_.Step(0, 1);
  EXPECT_TRUE(report.skipped);
  EXPECT_FALSE(std::isfinite(report.gradient_norm));
  EXPECT_TRUE(AreEqual(scaled_[0].value, Fours(1)));
  EXPECT_EQ(scaled_updater_.model_steps(), 0);
  EXPECT_EQ(scaled_updater_.loss_scale().value(), 512);
}

TEST_F(ScaledUpdates, WithoutAScaleAnOverflowIsAnError) {
  plain_[0].value.set_grad(Fours(kInfinity));
  EXPECT_THROW(plain_updater_.Step(0, 1), NumericError);
}

}  // namespace
}  // namespace tandem::train
