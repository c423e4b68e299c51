// The checks of a batch that both forms of an objective make, and the labels that stay on the host
// wherever the scores are: labelled cells, grades and weights.
#pragma once

#include <cstdint>
#include <vector>

#include "objective/batch.h"
#include "objective/catalogue.h"
#include "objective/objective.h"

namespace tandem::objective {

// S: the columns of the same-tower scores; Q where there are none.
int64_t SameTowerColumns(const Scores& scores);

// These throw std::logic_error, because a wrong shape, weight or column is a caller's mistake.
void CheckShapes(const Scores& scores, const Labels& labels, const Needs& needs);
void CheckColumns(const Batch& batch);  // of batch.positive

// Points `batch`, whose sizes and positives are set, at the labelled cells, or at the weights where
// there are any. Throws NumericError for a grade or teacher score that is needed and not finite.
void UseLabelled(const LabelledCells& labelled, const Needs& needs, Batch& batch);
void UseWeights(const std::vector<double>& weights, Batch& batch);

}  // namespace tandem::objective
