// Computes the base model's scores that a run's sampler needs before the first step.
#pragma once

#include <optional>
#include <string>

#include "base/process/interrupt.h"
#include "sampling/order.h"
#include "train/scoring/base_scores.h"
#include "train/setup/run_inputs.h"

namespace tandem::train {

struct SamplerScores {
  PairScores scores;                  // none if the sampler needs none
  std::optional<PairScoreWork> work;  // set if FindScores looked for the scores
};

// Scores the run's pairs with the model that it starts from. Asks `stop` after each block of texts
// and then throws Interrupted, which says what is kept. Throws as ScorePairs.
SamplerScores ScoreForSampling(const RunInputs& inputs, const sampling::ScoreNeeds& needs,
                               const StopRequest& stop);

// Does the same without encoding, for `train --check`. If the cache lacks embeddings, the scores
// are random numbers, by which as many pairs are pruned as by the model's scores.
SamplerScores FindScores(const RunInputs& inputs, const sampling::ScoreNeeds& needs);

// Says for `train --check` what scoring a run does before its first step: one line, or "" if its
// sampler needs no scores. `work` is the result of FindScores.
std::string ScoringText(const std::optional<PairScoreWork>& work, const config::Recipe& recipe);

}  // namespace tandem::train
