// Makes score samples for an AUC from the results of a search: eval/samples/auc.h says what they
// are.
//
//   positives[q] = PositivesOf(judged[q], relevance_level);
//   search.Watch(positives);  // of an ExactSearch at least kNegativesPerQuery + positives[q] deep
//   ... samples.push_back(SamplesOf(id of q, found[q], positives[q]));
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "data/dataset.h"
#include "data/judgements/qrels.h"
#include "eval/samples/auc.h"
#include "search/retrieval/exact.h"

namespace tandem::search {

// The documents of that grade or a higher one, ascending.
std::vector<uint32_t> PositivesOf(const data::JudgedQuery& query, double relevance_level);

// The samples of one query: the watched scores are the positives, and the scores of the best hits
// that are not among `positives` (ascending) the negatives. `query` must outlive the samples.
eval::QuerySamples SamplesOf(std::string_view query, const QueryHits& found,
                             std::span<const uint32_t> positives);

// Positives of `qrels` that the corpus lacks have no score, and a query without text has none at
// all: an AUC counts them below every score, as it does where a run lacks them. `samples` has those
// of the queries that were searched; the others are added to it, as views into `qrels`.
void CountMissingPositives(const data::Qrels& qrels, double relevance_level,
                           std::vector<eval::QuerySamples>& samples);

}  // namespace tandem::search
