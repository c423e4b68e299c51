// Results whose document has the id of their query. In data of duplicates and of arguments (Quora,
// ArguAna) such a document is the query itself, which ranks first and answers nothing.
#pragma once

#include <cstddef>

#include "data/judgements/qrels.h"
#include "data/judgements/run.h"

namespace tandem::eval {

struct IdenticalIds {
  size_t queries = 0;   // of the run, with such a result that nobody judged relevant
  size_t relevant = 0;  // with one whose grade is above 0
};

// Counts them in `run`. Where `qrels` is null, none is relevant.
IdenticalIds CountIdenticalIds(const data::Run& run, const data::Qrels* qrels);

// Takes them out of `run`, but for those that are judged relevant, and counts them.
// Source: BEIR's EvaluateRetrieval.evaluate (ignore_identical_ids, its default). Differs: it takes
// out relevant ones too, which no ranking could then find.
IdenticalIds LeaveOutIdenticalIds(const data::Qrels* qrels, data::Run& run);

}  // namespace tandem::eval
