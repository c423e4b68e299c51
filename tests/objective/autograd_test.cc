// Objectives called with tensors: losses and gradients through the graph.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "objective/objective.h"
#include "objective/random_tensors.h"
#include "tensor/core/back_end/device_functions.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/tensor.h"

namespace tandem::objective {
namespace {

Loss Evaluate(const Variant& variant, const Tensors& tensors) {
  return MakeObjective(variant.info->name, variant.params, Forms::kHost)
      ->Evaluate(tensors.scores, tensors.labels);
}

TEST(EveryObjectiveOnTensors, HasTheFormulasLossAndGradient) {
  for (const Variant& variant : AllVariants()) {
    SCOPED_TRACE(variant.name);
    RandomBatch batch(11, {});
    const Tensors tensors(batch);
    const Graded want = EvaluateWithGradient(*variant.Make(), batch);
    const Loss loss = Evaluate(variant, tensors);
    EXPECT_EQ(loss.value.item<double>(), want.evaluation.loss);
    EXPECT_EQ(loss.count, want.evaluation.count);
    // Back-propagates twice the loss: the gradient must have the factor 2.
    tensor::Mul(loss.value, 2).backward();
    const tensor::Tensor got = tensors.scores.query_document.grad();
    for (int64_t i = 0; i < got.numel(); ++i) {
      EXPECT_EQ(got.data_ptr<double>()[i], 2 * want.query_document[static_cast<size_t>(i)]);
    }
  }
}

TEST(EveryObjectiveOnTensors, HasTheFormulasLossesAndWeights) {
  for (const Variant& variant : AllVariants()) {
    SCOPED_TRACE(variant.name);
    RandomBatch batch(16, {});
    batch.weights = {2, 0, 0.5, 1, 3};
    const Tensors tensors(batch);
    const Graded want = EvaluateWithGradient(*variant.Make(), batch);
    const Loss loss = Evaluate(variant, tensors);
    EXPECT_EQ(loss.value.item<double>(), want.evaluation.loss);
    EXPECT_EQ(loss.losses, want.evaluation.losses);
    EXPECT_EQ(loss.losses.size(), batch.q);
    loss.value.backward();
    const tensor::Tensor got = tensors.scores.query_document.grad();
    for (int64_t i = 0; i < got.numel(); ++i) {
      EXPECT_EQ(got.data_ptr<double>()[i], want.query_document[static_cast<size_t>(i)]);
    }
    const tensor::NoGradGuard no_gradient;
    EXPECT_EQ(Evaluate(variant, tensors).losses, want.evaluation.losses);
  }
}

TEST(EveryObjectiveOnTensors, TakesBrokenWeightsForABug) {
  for (const std::vector<double>& weights :
       {std::vector<double>{1, 1, 1, 1}, {1, 1, 1, 1, -1}, {1, 1, 1, 1, std::nan("")}}) {
    RandomBatch batch(17, {});
    batch.weights = weights;
    EXPECT_THROW(Evaluate(AllVariants().front(), Tensors(batch)), std::logic_error);
  }
}

TEST(EveryObjectiveOnTensors, ReturnsGradientsInTheDtypeOfTheScores) {
  for (const Variant& variant : AllVariants()) {
    SCOPED_TRACE(variant.name);
    RandomBatch batch(12, {});
    const Tensors tensors(batch, tensor::kFloat);
    const Loss loss = Evaluate(variant, tensors);
    EXPECT_EQ(loss.value.dtype(), tensor::kDouble);
    loss.value.backward();
    EXPECT_EQ(tensors.scores.query_document.grad().dtype(), tensor::kFloat);
  }
}

TEST(EveryObjectiveOnTensors, RefusesScoresThatAreNotFinite) {
  for (const Variant& variant : AllVariants()) {
    SCOPED_TRACE(variant.name);
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
      RandomBatch batch(13, {});
      batch.query_document[14] = bad;
      EXPECT_THROW(Evaluate(variant, Tensors(batch)), NumericError);
    }
  }
}

TEST(EveryObjectiveOnTensors, NeedsNoGraphWhereGradientsAreOff) {
  RandomBatch batch(14, {});
  Tensors tensors(batch);
  tensors.scores.query_document = tensors.scores.query_document.detach();
  tensors.scores.query_query = tensor::Tensor();
  tensors.scores.document_document = tensor::Tensor();
  const Variant infonce = AllVariants().front();
  EXPECT_FALSE(Evaluate(infonce, tensors).value.requires_grad());
}

TEST(EveryObjectiveOnTensors, TakesAColumnOutOfRangeForABug) {
  RandomBatch batch(15, {});
  batch.positive[0] = static_cast<int64_t>(batch.d);
  EXPECT_THROW(Evaluate(AllVariants().front(), Tensors(batch)), std::logic_error);
}

// Without a back end nothing can be computed on a device, and nothing is computed elsewhere
// instead.
TEST(EveryObjectiveOnTensors, SaysThatNoBackEndIsThereForItsDeviceForm) {
  if (tensor::LoadedBackEndFunctions() != nullptr) GTEST_SKIP() << "this program has one";
  for (const Variant& variant : AllVariants()) {
    SCOPED_TRACE(variant.name);
    RandomBatch batch(18, {});
    const Tensors tensors(batch);
    const auto objective = MakeObjective(variant.info->name, variant.params, Forms::kDevice);
    EXPECT_THROW(objective->Evaluate(tensors.scores, tensors.labels), UsageError);
    EXPECT_THROW(objective->StartingBias(tensors.scores, tensors.labels, {}), UsageError);
  }
}

}  // namespace
}  // namespace tandem::objective
