// Handles documents whose text is the query itself. They occur in data of duplicates, and in
// corpora that contain the queries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/training_set.h"

namespace tandem::train {

struct OwnTexts {
  size_t queries = 0;   // queries with such a document in the corpus, not judged relevant
  size_t judged = 0;    // such documents judged irrelevant (grade 0)
  size_t left_out = 0;  // queries that have no paired document without these
};

// Moves such documents that are judged irrelevant for a query of `which` to its `unused` documents,
// so that they are not drawn as negatives: a text is no evidence against itself. Documents that are
// judged relevant stay. Removes from `which` the queries that have no paired document left. Texts
// are compared by the hashes that find copies; prompts do not count.
OwnTexts LeaveOutOwnTexts(data::TrainingSet& set, std::vector<uint32_t>& which);

}  // namespace tandem::train
