// Measures a model on validation data. The best value decides which model of a run is kept.
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

// Called now and then during a validation with the share of its work that is done; returning false
// stops the validation.
using ValidationProgress = std::function<bool(double share)>;

struct Validated {
  double value = 0;                    // decides which model is best
  std::vector<MeasuredValue> further;  // other measures, which decide nothing
  // Of which `value` is the mean, ascending by id; empty for the loss, for a measure that has no
  // values of single queries, and where `sources` are there.
  std::vector<QueryValue> queries;
  // Of which `value` is the mean, if the run validates on several data sets.
  std::vector<SourceValue> sources = {};
};

// The number of documents that a validation ranks, the size of their corpus, and how many of it are
// judged, which are always ranked; all 0 if it ranks none.
struct RankedCorpus {
  size_t documents = 0;
  size_t corpus = 0;
  size_t judged = 0;
};

class Validator {
 public:
  virtual ~Validator() = default;
  // Returns the values of the model, and uses the objective's states if the measure is the loss.
  // None if `progress` stopped the validation.
  virtual std::optional<Validated> Measure(model::DualEncoder& model, const ObjectiveStates& states,
                                           const ValidationProgress& progress) = 0;
  // Does as much of a validation as takes its memory, in seconds: a few passes over the longest
  // documents after all queries are encoded. There is no result.
  virtual void TryBeginning(model::DualEncoder& model, const ObjectiveStates& states) = 0;
  // Returns about how many seconds a validation takes, from some of its texts or batches, which it
  // encodes for a few seconds. The search itself is left out.
  virtual double EstimateSeconds(model::DualEncoder& model, const ObjectiveStates& states) = 0;
  // Returns "ndcg@10" or "loss".
  virtual std::string name() const = 0;
  // Whether `value` is better than `other`.
  virtual bool Better(double value, double other) const = 0;
  virtual RankedCorpus ranked() const { return {}; }
  // Returns how many queries it measures on.
  virtual size_t queries() const = 0;
};

struct ValidatorOptions {
  RunPrompts prompts;  // prompts of the texts that are validated on
  tensor::Precision precision = tensor::Precision::kFp32;
  int threads = 1;
  dist::ProcessGroup* group = nullptr;  // validates together; null: this process validates alone
};

// The measures that are computed on a ranking.
struct RankingMeasures {
  std::string measure;              // decides which model is best; as the others, of eval/measure.h
  std::vector<std::string> report;  // other measures, which decide nothing
  double relevance_level = 1;       // the grade from which binary measures count a document
  // The number of documents of the corpus that are ranked (data/judgements/pool.h, drawn with
  // `seed`); none: all.
  std::optional<size_t> pool;
  uint64_t seed = 1;
  bool ignore_identical_ids = false;  // search::RetrieveOptions
  std::string source = {};            // of several data sets, in notes; "": there is one
};

// Makes a validator that measures on a ranking of the corpus, or of a pool of it, for each judged
// query. It encodes the documents window by window and searches them exactly. Higher is better.
// Notes the size of a pool, and says how many queries are themselves documents of the corpus. Data
// that `corpus` points to must outlive the validator.
std::unique_ptr<Validator> MakeMeasureValidator(JudgedCorpus corpus,
                                                const RankingMeasures& measures,
                                                const ValidatorOptions& options);

// Makes a validator that computes the objective's loss on the validation queries: the mean over
// queries in batches like those of training, which are the same in every validation. It uses no
// dropout, score bank or false-negative filter. Lower is better. `loaded` and `objective` must
// outlive the validator.
std::unique_ptr<Validator> MakeLossValidator(const RunData& data,
                                             const config::LoadedRecipe& loaded,
                                             const TrainingObjective& objective,
                                             const model::DualEncoder& model,
                                             const ValidatorOptions& options);

}  // namespace tandem::train
