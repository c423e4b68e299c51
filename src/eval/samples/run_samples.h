// Samples of the queries of a run, for figures that need more than the values of measures.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "data/judgements/qrels.h"
#include "data/judgements/run.h"
#include "eval/ranking.h"
#include "eval/samples/auc.h"

namespace tandem::eval {

struct RunSamples {
  std::vector<QuerySamples> samples;  // [Q], views into the qrels
  // [Q] the score of a query's last result: documents of that score or less may be missing from the
  // run (eval/samples/corpus_levels.h). A query with fewer results than the one with most of them
  // has kNoFloor: it is taken to have all that its system gives, and so is one without results.
  std::vector<double> floors;
};

// The pool of METHODS §4 (SamplesOf) of each of `queries`, in their order, or with `all_results`
// every result of the run as a sample. A query that the run lacks has only missing positives. Every
// query must be judged, and there must be one.
RunSamples SamplesOfRun(const data::Run& run, const data::Qrels& qrels,
                        std::span<const std::string> queries, const RankingOptions& options,
                        bool all_results);

// `given` in the order of `queries`; a query that it lacks has empty samples.
std::vector<QuerySamples> SamplesInOrder(std::span<const QuerySamples> given,
                                         std::span<const std::string> queries);

}  // namespace tandem::eval
