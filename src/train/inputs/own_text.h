// Documents whose text is that of the query itself: in data of duplicates, and in corpora that hold
// the queries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/training_set.h"

namespace tandem::train {

struct OwnTexts {
  size_t queries = 0;   // with such a document in the corpus that nobody judged relevant
  size_t judged = 0;    // such documents that were judged irrelevant (grade 0)
  size_t left_out = 0;  // queries that have no document of their own without these
};

// Moves such documents that are judged irrelevant for a query of `which` to its `unused` ones: a
// text is no evidence against itself, so they are not drawn. What the judgements call relevant
// stays. Takes the queries that have no paired document left out of `which`. Hashes are those by
// which copies are told; prompts do not count.
OwnTexts LeaveOutOwnTexts(data::TrainingSet& set, std::vector<uint32_t>& which);

}  // namespace tandem::train
