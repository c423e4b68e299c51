// Queries that have no answer: what --unanswerable names.
#pragma once

#include <string>
#include <vector>

#include "data/dataset.h"
#include "model/dual_encoder.h"
#include "search/retrieval/retrieve.h"

namespace tandem::app {

// The highest score among the documents of `judged` of each query of `file`, JSON lines {"_id",
// "text"}; of `options` all but the depth counts. Warns of queries that have an answer: the text of
// a judged query with a document of grade `relevance_level` or more. Throws DataError as
// data::ReadTexts.
std::vector<double> BestScoresOfFile(model::DualEncoder& model, const data::Dataset& judged,
                                     double relevance_level, const std::string& file,
                                     search::RetrieveOptions options);

// How tandem.json and messages call the queries that --unanswerable names.
std::string UnanswerableName(const std::string& flag);

}  // namespace tandem::app
