// The filter of same-tower cells: it takes out queries that lie so near to each other, and paired
// documents likewise, that one is hardly a negative of the other.
#pragma once

#include <cstdint>

#include "objective/objective.h"

namespace tandem::train {

// Takes the same-tower cells whose score is above `most` out of `labels.query_negative` (scores
// query_query) and `labels.document_negative` (scores document_document), both [Q, S], and returns
// their number. Scores are those of the current step, without gradient, float64 on any device; they
// are copied to the host to be compared. Masks without scores stay. The masks become new tensors:
// the caller's copies keep the cells. Source: SamToNe section 6 (Moiseev et al. 2023).
int64_t FilterSameTower(const objective::Scores& scores, double most, objective::Labels& labels);

}  // namespace tandem::train
