#include <chrono>
#include <numeric>
#include <utility>
#include <vector>

#include "data/studies/label_study.h"
#include "data/training_set.h"
#include "sampling/catalogue.h"
#include "train/inputs/batch_figures.h"
#include "train/inputs/example_texts.h"
#include "train/inputs/label_keys.h"
#include "train/inputs/own_text.h"
#include "train/seconds_since.h"
#include "train/step/step.h"
#include "train/validation/encoding_time.h"
#include "train/validation/validator.h"

namespace tandem::train {
namespace {

class LossValidator final : public Validator {
 public:
  // `tasks` has the tasks of the examples of `texts`, or is empty.
  LossValidator(ExampleTexts texts, std::vector<uint32_t> tasks, const config::Recipe& recipe,
                const TrainingObjective& objective, const ValidatorOptions& options)
      : texts_(std::move(texts)),
        figures_(MakeBatchFigures(recipe, texts_, std::move(tasks))),
        objective_(objective),
        sampler_options_(SamplerOptionsOf(recipe, objective.needs)),
        maker_(texts_, MaskRulesOf(recipe), objective.needs),
        step_(MakeStep(recipe.train.chunk_tokens, options.group)),
        forward_{.precision = options.precision} {
    figures_.AddTo(sampler_options_);
  }

  // Throws RecipeError if a query of `set` is too long for a batch.
  void CheckLengths(const config::LoadedRecipe& loaded, const data::TrainingSet& set) const {
    if (sampler_options_.batch_tokens == 0) return;
    try {
      sampling::kUniform.make(texts_.examples, sampler_options_);
    } catch (const sampling::DrawTooLong& problem) {
      throw TooLongError(loaded, problem.longest(), texts_, set);
    }
  }

  std::optional<Validated> Measure(model::DualEncoder& model, const ObjectiveStates& states,
                                   const ValidationProgress& progress) override {
    const auto sampler = sampling::kUniform.make(texts_.examples, sampler_options_);
    double sum = 0, queries = 0;
    const uint64_t batches = sampler->BatchesIn(1);
    for (uint64_t b = 0; b < batches; ++b) {
      if (!progress(static_cast<double>(b) / static_cast<double>(batches))) return std::nullopt;
      const TrainingBatch batch = maker_.Make(sampler->Next());
      const auto count = static_cast<double>(batch.queries);
      sum += step_->Forward(model, batch, objective_, states, forward_).loss * count;
      queries += count;
    }
    return Validated{.value = sum / queries};
  }

  // Its batches are those of training, whose steps take more memory.
  void TryBeginning(model::DualEncoder& model, const ObjectiveStates& states) override {
    Measure(model, states, [](double) { return false; });
  }

  double EstimateSeconds(model::DualEncoder& model, const ObjectiveStates& states) override {
    const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    double done = 0;  // the share before the batch at which it was stopped
    const bool whole = Measure(model, states, [&](double share) {
                         done = share;
                         return share <= 0 || SecondsSince(start) < kEstimateSeconds;
                       }).has_value();
    return SecondsSince(start) / (whole ? 1 : done);
  }

  std::string name() const override { return "loss"; }
  bool Better(double value, double other) const override { return value < other; }
  size_t queries() const override { return texts_.examples.size(); }

 private:
  ExampleTexts texts_;
  BatchFigures figures_;
  const TrainingObjective& objective_;
  sampling::SamplerOptions sampler_options_;
  BatchMaker maker_;
  std::unique_ptr<const Step> step_;
  model::ForwardOptions forward_;
};

// Returns the validation data set in the form of a training set. It shares the texts of `dataset`.
data::TrainingSet TrainingSetOf(const data::Dataset& dataset, const config::LoadedRecipe& loaded,
                                const objective::Needs& needs) {
  data::TrainingSet set = MakeTrainingSet(dataset, loaded, needs);
  if (loaded.recipe.data.binarize_at) data::Binarize(set);
  return set;
}

}  // namespace

std::unique_ptr<Validator> MakeLossValidator(const RunData& data,
                                             const config::LoadedRecipe& loaded,
                                             const TrainingObjective& objective,
                                             const model::DualEncoder& model,
                                             const ValidatorOptions& options) {
  const auto make = [&](const data::TrainingSet& set, std::span<const uint32_t> which,
                        std::vector<uint32_t> tasks) {
    auto validator = std::make_unique<LossValidator>(
        MakeExampleTexts(set, set.positive_grade, which, model, options.prompts, options.threads),
        std::move(tasks), loaded.recipe, objective, options);
    validator->CheckLengths(loaded, set);
    return validator;
  };
  if (!data.validation) {
    return make(data.set, data.held_out, TasksOf(data, loaded.recipe, data.held_out));
  }
  data::TrainingSet set = TrainingSetOf(*data.validation, loaded, objective.needs);
  std::vector<uint32_t> all(set.examples.size());
  std::iota(all.begin(), all.end(), 0);
  if (loaded.recipe.data.masks.query_text && !objective.needs.teacher) LeaveOutOwnTexts(set, all);
  return make(set, all, {});
}

}  // namespace tandem::train
