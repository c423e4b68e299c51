// Measures a model on validation data; the best value decides which model of a run is kept.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "config/recipe.h"
#include "model/dual_encoder.h"
#include "sampling/masks.h"
#include "train/run_data.h"
#include "train/run_prompts.h"
#include "train/step.h"

namespace tandem::train {

// A validation calls this now and then with the share of its work that is done; false stops it.
using ValidationProgress = std::function<bool(double share)>;

class Validator {
 public:
  virtual ~Validator() = default;
  // The value of the model, with the objective's states where the measure is the loss. None where
  // `progress` stopped the validation.
  virtual std::optional<double> Measure(model::DualEncoder& model, const ObjectiveStates& states,
                                        const ValidationProgress& progress) = 0;
  // "ndcg@10" or "loss".
  virtual std::string name() const = 0;
  // Whether `value` is better than `other`.
  virtual bool Better(double value, double other) const = 0;
};

struct ValidatorOptions {
  RunPrompts prompts;  // of the texts that are validated on
  tensor::Precision precision = tensor::Precision::kFp32;
  int threads = 1;
};

// A measure of eval/measure.h on a ranking of the whole corpus for each judged query. It encodes
// the documents window by window and searches them exactly; binary measures count grades from
// `relevance_level`. Higher is better. What `corpus` points to must outlive the validator.
std::unique_ptr<Validator> MakeMeasureValidator(JudgedCorpus corpus, const std::string& measure,
                                                double relevance_level,
                                                const ValidatorOptions& options);

// The objective's loss on the validation queries: the mean over queries of batches like those of
// training, which are the same in every validation. Without dropout, score bank and false-negative
// filter. Lower is better. `loaded` and `objective` must outlive the validator.
std::unique_ptr<Validator> MakeLossValidator(const RunData& data,
                                             const config::LoadedRecipe& loaded,
                                             const TrainingObjective& objective,
                                             const model::DualEncoder& model,
                                             const ValidatorOptions& options);

}  // namespace tandem::train
