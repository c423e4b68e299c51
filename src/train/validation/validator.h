// Measures a model on validation data; the best value decides which model of a run is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/recipe/recipe.h"
#include "dist/process_group.h"
#include "model/dual_encoder.h"
#include "sampling/masks.h"
#include "train/inputs/run_data.h"
#include "train/inputs/run_prompts.h"
#include "train/objective/training_objective.h"
#include "train/validation/measured_value.h"

namespace tandem::train {

// A validation calls this now and then with the share of its work that is done; false stops it.
using ValidationProgress = std::function<bool(double share)>;

struct Validated {
  double value = 0;                    // decides which model is best
  std::vector<MeasuredValue> further;  // decide nothing
};

// How many documents a validation ranks, and of how many; 0 where it ranks none.
struct RankedCorpus {
  size_t documents = 0;
  size_t corpus = 0;
};

class Validator {
 public:
  virtual ~Validator() = default;
  // The values of the model, with the objective's states where the measure is the loss. None where
  // `progress` stopped the validation.
  virtual std::optional<Validated> Measure(model::DualEncoder& model, const ObjectiveStates& states,
                                           const ValidationProgress& progress) = 0;
  // "ndcg@10" or "loss".
  virtual std::string name() const = 0;
  // Whether `value` is better than `other`.
  virtual bool Better(double value, double other) const = 0;
  virtual RankedCorpus ranked() const { return {}; }
};

struct ValidatorOptions {
  RunPrompts prompts;  // of the texts that are validated on
  tensor::Precision precision = tensor::Precision::kFp32;
  int threads = 1;
  dist::ProcessGroup* group = nullptr;  // that validates together; null: this process alone
};

// What is measured on a ranking.
struct RankingMeasures {
  std::string measure;              // decides; of eval/measure.h, as the others
  std::vector<std::string> report;  // decide nothing
  double relevance_level = 1;       // the grade from which binary measures count a document
  // Ranked are so many documents of the corpus (data/judgements/pool.h, drawn by `seed`); none:
  // all.
  std::optional<size_t> pool;
  uint64_t seed = 1;
  bool ignore_identical_ids = false;  // search::RetrieveOptions
};

// Measures on a ranking of the corpus, or of a pool of it, for each judged query. It encodes the
// documents window by window and searches them exactly. Higher is better. Notes the size of a pool,
// and says how many queries are documents of the corpus themselves.
// What `corpus` points to must outlive the validator.
std::unique_ptr<Validator> MakeMeasureValidator(JudgedCorpus corpus,
                                                const RankingMeasures& measures,
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
