// Queries that have no answer: what --unanswerable names.
#pragma once

#include <string>
#include <vector>

#include "data/texts/texts.h"
#include "model/dual_encoder.h"
#include "search/retrieval/retrieve.h"

namespace tandem::app {

// The highest score among `documents` of each query of `file`, JSON lines {"_id", "text"}; of
// `options` all but the depth counts. Throws DataError as data::ReadTexts.
std::vector<double> BestScoresOfFile(model::DualEncoder& model, const data::Texts& documents,
                                     const std::string& file, search::RetrieveOptions options);

// How tandem.json and messages call the queries that --unanswerable names.
std::string UnanswerableName(const std::string& flag);

}  // namespace tandem::app
