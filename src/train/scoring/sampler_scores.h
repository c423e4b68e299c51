// The base model's scores that a run's sampler asks for, before its first step.
#pragma once

#include <string>

#include "base/process/interrupt.h"
#include "sampling/order.h"
#include "train/scoring/base_scores.h"

namespace tandem::train {

struct Setup;

// The scores of the run's pairs by the model that it starts from; none where nothing is needed.
// `stop` is asked after each block of texts: Interrupted then, which says what is kept. Throws as
// ScorePairs.
PairScores ScoreForSampling(const Setup& setup, const sampling::ScoreNeeds& needs,
                            const StopRequest& stop);

// The same without encoding, for `train --check`. Where the cache has not all embeddings the scores
// are random numbers: as many pairs are left out by them as by the model's. Sets setup.scoring.
PairScores FindScores(Setup& setup, const sampling::ScoreNeeds& needs);

// What a run does before its first step, for `train --check`: one line, or "" where its sampler
// asks for no scores.
std::string ScoringText(const Setup& setup);

}  // namespace tandem::train
