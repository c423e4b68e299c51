// What an objective learns or keeps between batches: scale, bias and score banks.
#pragma once

#include <ATen/core/Tensor.h>

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
#include "train/objective/score_bank.h"
#include "train/run/state_visitor.h"
#include "weights/folders/tandem_file.h"

namespace tandem::train {

// A value: a training step takes one and gives back the next (train/step/step.h). An objective that
// learns and keeps nothing has the empty value. A copy has score banks of its own; scale and bias
// are tensors and therefore shared with the original, like a model's parameters.
class ObjectiveStates {
 public:
  ObjectiveStates() : ObjectiveStates(objective::StatePlan()) {}
  explicit ObjectiveStates(const objective::StatePlan& plan);

  bool empty() const { return !plan_.any(); }

  // The states as the objective reads them. Validation leaves the bank out: it compares a batch
  // with itself, so that its values are comparable over time. There is no bias before StartBias.
  objective::States View(bool with_bank) const;

  // Whether neither recipe nor model says where the bias starts; the first batch then does.
  bool bias_is_open() const { return plan_.logistic && !started_; }
  void StartBias(double bias);

  // Begins step 1, 2, ...: drops scores that are too old for it.
  void BeginStep(int64_t step);
  // Adds the scores of a batch of the step to the banks: each query's paired document to the
  // positives, the allowed negatives to the negatives. query_document [Q, D], on any device. Before
  // the first step it keeps nothing.
  void Keep(const at::Tensor& query_document, const objective::Labels& labels);

  // Scale and bias as far as they are learned. They have no weight decay: 0 is no better a bias
  // than any other number.
  std::vector<model::NamedParameter> Learned() const;
  // The multiple of the encoder's learning rate that they are learned with.
  double learning_rate_factor() const { return plan_.learning_rate_factor; }
  // Scale and bias, learned or not; none for an objective without them. They are saved with the
  // weights that they belong to.
  std::vector<model::NamedParameter> Numbers() const;

  // Everything else that a resumed run needs. Tensors share the banks' memory, to be saved or to be
  // overwritten; the state is read first, because that makes room for the saved scores.
  std::vector<optim::StateTensor> Tensors();
  void VisitState(StateVisitor visit);

  // What metrics.jsonl shows: scale, bias and the banks' sizes.
  report::NamedNumbers Figures() const;
  // What turns scores into probabilities; the caller fills in objective and similarity. None for an
  // objective without scale and bias.
  std::optional<weights::Calibration> Calibration() const;

 private:
  objective::StatePlan plan_;
  bool started_;
  int64_t step_ = 0;
  at::Tensor scale_;  // float32 [1]
  at::Tensor bias_;   // float32 [1]
  ScoreBank positives_;
  ScoreBank negatives_;
};

}  // namespace tandem::train
