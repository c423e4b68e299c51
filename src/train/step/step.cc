#include "train/step/step.h"

#include <utility>

#include "tensor/core/gradients/tape.h"
#include "tensor/core/tensor.h"
#include "tensor/profile/profile.h"
#include "train/step/batch_loss.h"
#include "train/step/cached_step.h"
#include "train/step/plain_step.h"
#include "train/step/shared_step.h"

namespace tandem::train {
namespace {

std::unique_ptr<const LocalStep> MakeLocalStep(int64_t chunk_tokens) {
  if (chunk_tokens > 0) return std::make_unique<CachedStep>(chunk_tokens);
  return std::make_unique<PlainStep>();
}

}  // namespace

std::unique_ptr<const Step> MakeStep(int64_t chunk_tokens, dist::ProcessGroup* group) {
  std::unique_ptr<const LocalStep> local = MakeLocalStep(chunk_tokens);
  if (!dist::IsShared(group)) return local;
  return std::make_unique<SharedStep>(std::move(local), *group);
}

dist::Share Step::ScoredQueries(int64_t queries, const TrainingObjective& /*objective*/) const {
  return {0, queries};
}

BatchOutcome Step::Forward(model::DualEncoder& model, const TrainingBatch& batch,
                           const TrainingObjective& objective, const ObjectiveStates& states,
                           const model::ForwardOptions& options) const {
  model::ForwardOptions plain = options;
  plain.training = false;
  const tensor::NoGradGuard no_gradient;
  const tensor::Tensor embeddings = Encode(model, batch, plain);
  const tensor::ProfileScope scope("scores and loss");
  ScoredBatch scored = ScoreBatch(embeddings, batch, objective, /*training=*/false);
  return LossOf(scored, objective, states.View(/*with_bank=*/false)).outcome;
}

double Step::StartingBias(model::DualEncoder& model, const TrainingBatch& batch,
                          const TrainingObjective& objective, const ObjectiveStates& states,
                          const model::ForwardOptions& options) const {
  const tensor::NoGradGuard no_gradient;
  const ScoredBatch scored =
      ScoreBatch(Encode(model, batch, options), batch, objective, options.training);
  return objective.loss->StartingBias(scored.widths.front().scores, scored.labels_of_device,
                                      states.View(/*with_bank=*/false));
}

}  // namespace tandem::train
