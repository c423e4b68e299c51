// Ranks given lists of documents again: a first system's results, by a model's scores.
#pragma once

#include "data/dataset.h"
#include "data/judgements/candidates.h"
#include "data/judgements/run.h"
#include "model/dual_encoder.h"
#include "search/encoding/embedding_cache.h"

namespace tandem::search {

// The candidates of each judged query of `dataset`, scored by the model's similarity. Only they and
// their queries are encoded, each distinct text once, or found in the cache. A query without
// candidates is not in the run. Scores are sums in double precision (PairCosines, PairDots). Warns
// about truncated and empty texts. The run's documents are views into `dataset`.
data::Run Rerank(model::DualEncoder& model, const data::Dataset& dataset,
                 const data::Candidates& candidates, const CacheOptions& cache);

}  // namespace tandem::search
