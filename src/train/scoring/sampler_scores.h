// The base model's scores that a run's sampler asks for, before its first step.
#pragma once

#include <optional>
#include <string>

#include "base/process/interrupt.h"
#include "sampling/order.h"
#include "train/scoring/base_scores.h"
#include "train/setup/run_inputs.h"

namespace tandem::train {

struct SamplerScores {
  PairScores scores;                  // none where nothing is needed
  std::optional<PairScoreWork> work;  // where FindScores looked for them
};

// The scores of the run's pairs by the model that it starts from. `stop` is asked after each block
// of texts: Interrupted then, which says what is kept. Throws as ScorePairs.
SamplerScores ScoreForSampling(const RunInputs& inputs, const sampling::ScoreNeeds& needs,
                               const StopRequest& stop);

// The same without encoding, for `train --check`. Where the cache has not all embeddings the scores
// are random numbers: as many pairs are left out by them as by the model's.
SamplerScores FindScores(const RunInputs& inputs, const sampling::ScoreNeeds& needs);

// What a run does before its first step, for `train --check`: one line, or "" where its sampler
// asks for no scores. `work` is what FindScores found.
std::string ScoringText(const std::optional<PairScoreWork>& work, const config::Recipe& recipe);

}  // namespace tandem::train
