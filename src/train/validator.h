// What decides which model of a run is best.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "config/recipe.h"
#include "model/dual_encoder.h"
#include "sampling/masks.h"
#include "train/run_data.h"
#include "train/step.h"

namespace tandem::train {

// Called now and then with the share that is done; false stops the validation.
using GoOn = std::function<bool(double share)>;

class Validator {
 public:
  virtual ~Validator() = default;
  // The model's value; nothing where `go_on` stopped it.
  virtual std::optional<double> Measure(model::DualEncoder& model, const GoOn& go_on) = 0;
  // "ndcg@10" or "loss".
  virtual std::string name() const = 0;
  // Whether `value` is better than `other`.
  virtual bool Better(double value, double other) const = 0;
};

struct ValidatorOptions {
  tensor::Precision precision = tensor::Precision::kFp32;
  int threads = 1;
};

// A measure of eval/measure.h on a ranking of the whole corpus for each judged query: documents are
// encoded window by window and searched exactly; binary measures take `relevance_level`. The
// higher the better. `corpus` points to what must outlive the validator.
std::unique_ptr<Validator> MakeMeasureValidator(JudgedCorpus corpus, const std::string& measure,
                                                double relevance_level,
                                                const ValidatorOptions& options);

// The objective on the validation queries, batched as in training: always the same batches,
// without dropout; the mean over queries. The lower the better. `loaded` must outlive it.
std::unique_ptr<Validator> MakeLossValidator(const RunData& data,
                                             const config::LoadedRecipe& loaded, const Goal& goal,
                                             const model::DualEncoder& model,
                                             const ValidatorOptions& options);

}  // namespace tandem::train
