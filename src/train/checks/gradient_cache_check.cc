#include "train/checks/gradient_cache_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include "optim/gradients.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/gradients/sparse_rows.h"
#include "tensor/core/tensor.h"
#include "train/setup/trainer.h"

namespace tandem::train {
namespace {

using Clock = std::chrono::steady_clock;

// A gradient below this share of the largest one is compared as if it had that size, because it may
// consist of rounding errors alone.
constexpr double kSmallShare = 1e-3;

// The relative difference that the order of summation explains: bfloat16 has 8 significant bits,
// half precision and TF32 have 11, and a temperature of 0.01 multiplies the rounding error of a
// score by a hundred.
double BoundOf(tensor::Precision precision) {
  return precision == tensor::Precision::kFp32 ? 1e-3 : 1e-2;
}

struct Gradient {
  std::vector<tensor::Tensor> of_parameters;
  double loss = 0;
  double seconds = 0;
};

Gradient Run(const Trainer& trainer, const TrainingBatch& batch, int64_t chunk_tokens) {
  const auto parameters = model::TrainedOf(trainer.model().Parameters());
  const std::unique_ptr<const Step> step = MakeStep(chunk_tokens);
  const StepOptions options{.forward = {.precision = trainer.inputs.run.precision,
                                        .training = true,
                                        .seed = static_cast<uint64_t>(trainer.recipe().seed)}};
  Gradient gradient;
  for (int repeat = 0; repeat < 2; ++repeat) {  // the first repeat also fills caches
    optim::ClearGradients(parameters);
    const Clock::time_point start = Clock::now();
    gradient.loss =
        step->ForwardBackward(trainer.model(), batch, trainer.objective, trainer.states, options)
            .loss;
    gradient.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  }
  for (const model::NamedParameter& parameter : parameters) {
    const tensor::SparseRows* rows = parameter.value.row_grad();
    gradient.of_parameters.push_back(tensor::OnCpu(
        rows != nullptr ? tensor::Dense(*rows, parameter.value.sizes()) : parameter.value.grad()));
  }
  optim::ClearGradients(parameters);
  return gradient;
}

// Returns the largest absolute value of a tensor, less another one of the same shape if that is
// defined; NaN if there is one; 0 for no tensor.
double Largest(const tensor::Tensor& tensor, const tensor::Tensor& less = {}) {
  if (!tensor.defined()) return 0;
  const auto* value = tensor.data_ptr<float>();
  const float* other = less.defined() ? less.data_ptr<float>() : nullptr;
  float largest = 0;
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    const float size = std::abs(other == nullptr ? value[i] : value[i] - other[i]);
    if (std::isnan(size)) return size;
    largest = std::max(largest, size);
  }
  return largest;
}

}  // namespace

GradientDifference LargestDifference(const std::vector<model::NamedParameter>& parameters,
                                     const std::vector<tensor::Tensor>& direct,
                                     const std::vector<tensor::Tensor>& cached) {
  double largest = 0;
  for (const tensor::Tensor& grad : direct) largest = std::max(largest, Largest(grad));
  GradientDifference worst;
  for (size_t p = 0; p < parameters.size(); ++p) {
    const tensor::Tensor& want = direct[p];
    if (!want.defined()) continue;
    const double size = std::max(Largest(want), kSmallShare * largest);
    const double difference = Largest(want, cached[p]);
    const double relative = difference / std::max(size, 1e-300);
    if (std::isnan(relative)) return {relative, parameters[p].name};
    if (relative > worst.relative) worst = {relative, parameters[p].name};
  }
  return worst;
}

GradientCacheReport CheckGradientCache(config::LoadedRecipe loaded) {
  const std::unique_ptr<Trainer> trainer = MakeTrainer(std::move(loaded)).trainer;
  const tensor::Precision precision = trainer->inputs.run.precision;
  const TrainingBatch batch = trainer->batches.Make(trainer->sampler->Next());
  const int64_t wanted = trainer->recipe().train.chunk_tokens;
  const int64_t chunk = wanted > 0 ? wanted : std::max<int64_t>(1, batch.tokens() / 4);
  const Gradient direct = Run(*trainer, batch, 0);
  const Gradient cached = Run(*trainer, batch, chunk);
  const GradientDifference worst = LargestDifference(
      model::TrainedOf(trainer->model().Parameters()), direct.of_parameters, cached.of_parameters);
  GradientCacheReport report{.worst = worst.relative, .bound = BoundOf(precision)};
  report.text = fmt::format(
      "first batch: {} queries, {} documents, {} tokens; chunks of at most {} tokens\n"
      "loss: {:.9g} direct, {:.9g} with the gradient cache\n"
      "worst relative difference of gradients: {:.2e} ({}), bound {:.0e} in {}\n"
      "time: {:.2f} s direct, {:.2f} s with the gradient cache: {:.2f} times\n",
      batch.queries, batch.documents, batch.tokens(), chunk, direct.loss, cached.loss,
      worst.relative, worst.parameter, report.bound, tensor::PrecisionName(precision),
      direct.seconds, cached.seconds, cached.seconds / direct.seconds);
  return report;
}

}  // namespace tandem::train
