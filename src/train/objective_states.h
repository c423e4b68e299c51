// What an objective learns or keeps between batches: scale, bias, score bank.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/forward.h"
#include "objective/catalogue.h"
#include "objective/objective.h"
#include "optim/optimizer.h"
#include "train/score_bank.h"
#include "weights/tandem_file.h"

namespace tandem::train {

class ObjectiveStates {
 public:
  explicit ObjectiveStates(const objective::StatePlan& plan);

  // As the objective takes them in a training step, or without the bank: validation compares a
  // batch with itself, so that its values are comparable over time. The bias is not there before
  // StartBias.
  objective::States View(bool with_bank) const;

  // Whether the first batch has to say where the bias starts.
  bool bias_is_open() const { return plan_.logistic && !started_; }
  void StartBias(double bias);

  // Before the batches of step 1, 2, ...: old scores are dropped, gradients cleared.
  void BeginStep(int64_t step);
  // Keeps a batch's scores. Before the first step nothing is kept: checks repeat a batch.
  void Keep(const at::Tensor& query_document, const objective::Labels& labels);

  // What is learned, for the optimizer of its own that Learn takes; empty: nothing. No weight
  // decay: 0 is no better a bias than another.
  std::vector<model::NamedParameter> Learned() const;
  void UseOptimizer(std::unique_ptr<optim::Optimizer> optimizer);
  // `learning_rate` is the encoder's; StatePlan::learning_rate_factor comes on top.
  void Step(double learning_rate, double gradient_scale);

  // Scale and bias as they are, to be saved with the weights they belong to.
  std::vector<model::NamedParameter> Numbers() const;
  // Everything else that a resumed run needs: tensors to save or to overwrite in place, and the
  // rest as JSON. Restore comes first: it makes room for the bank's scores.
  std::vector<optim::StateTensor> Tensors();
  nlohmann::json State() const;
  void Restore(const nlohmann::json& state);  // throws nlohmann::json::exception

  // The numbers for people: {"scale": .., "bias": ..} and the bank's size.
  nlohmann::ordered_json Figures() const;
  // What turns scores into probabilities, without objective and similarity; nothing where the
  // model's scores mean nothing more by them.
  std::optional<weights::Calibration> Calibration() const;

 private:
  objective::StatePlan plan_;
  bool started_;
  int64_t step_ = 0;
  at::Tensor scale_;  // float32 [1]
  at::Tensor bias_;   // float32 [1]
  std::unique_ptr<optim::Optimizer> optimizer_;
  ScoreBank positives_;
  ScoreBank negatives_;
};

}  // namespace tandem::train
