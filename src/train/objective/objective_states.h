// The values that an objective learns or keeps between batches: scale, bias and score banks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "model/forward.h"
#include "objective/catalogue.h"
#include "objective/objective.h"
#include "optim/optimizer.h"
#include "report/records/named_numbers.h"
#include "tensor/core/tensor.h"
#include "train/objective/score_bank.h"
#include "train/run/state_visitor.h"
#include "weights/folders/tandem_file.h"

namespace tandem::train {

// The states are a value: a training step takes them and returns the next ones (train/step/step.h).
// For an objective that learns and keeps nothing they are empty. A copy has score banks of its own,
// but shares scale and bias with the original, because they are tensors, as a model's parameters
// are.
class ObjectiveStates {
 public:
  ObjectiveStates() : ObjectiveStates(objective::StatePlan()) {}
  explicit ObjectiveStates(const objective::StatePlan& plan);

  bool empty() const { return !plan_.any(); }

  // Returns the states as the objective reads them. Validation leaves the bank out, so that a batch
  // is compared only with itself and values of different steps are comparable. There is no bias
  // before StartBias.
  objective::States View(bool with_bank) const;

  // Whether neither the recipe nor the model gives the first value of the bias; the first batch
  // then decides it.
  bool bias_is_open() const { return plan_.logistic && !started_; }
  void StartBias(double bias);

  // Begins step 1, 2, ...: drops the scores that are too old for it.
  void BeginStep(int64_t step);
  // Adds the scores of a batch to the banks: the scores of each query's paired document to the
  // positives, those of the allowed negatives to the negatives. query_document [Q, D], on any
  // device, with labels on the host. Before the first step it adds nothing.
  void Keep(const tensor::Tensor& query_document, const objective::Labels& labels);

  // Returns scale and bias if they are learned. They have no weight decay: 0 is no better a bias
  // than any other number.
  std::vector<model::NamedParameter> Learned() const;
  // Returns the factor by which the learning rate of scale and bias differs from the encoder's.
  double learning_rate_factor() const { return plan_.learning_rate_factor; }
  // Returns scale and bias, learned or not; none for an objective without them. They are saved with
  // the weights that they belong to.
  std::vector<model::NamedParameter> Numbers() const;

  // The other states that a resumed run needs. The tensors share the banks' memory, to be saved or
  // overwritten. A reader must visit the state first, because that makes room for the saved scores.
  std::vector<optim::StateTensor> Tensors();
  void VisitState(StateVisitor visit);

  // Returns the numbers for metrics.jsonl: scale, bias and the banks' sizes.
  report::NamedNumbers Figures() const;
  // Returns scale and bias for turning scores into probabilities; the caller fills in objective and
  // similarity. None for an objective without scale and bias.
  std::optional<weights::Calibration> Calibration() const;

 private:
  objective::StatePlan plan_;
  bool started_;
  int64_t step_ = 0;
  tensor::Tensor scale_;  // float32 [1]
  tensor::Tensor bias_;   // float32 [1]
  ScoreBank positives_;
  ScoreBank negatives_;
};

}  // namespace tandem::train
