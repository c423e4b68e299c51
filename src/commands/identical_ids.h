// `--ignore-identical-ids`: decides how commands treat documents that have the id of their query.
#pragma once

#include <cstddef>
#include <vector>

#include "cli/flags.h"
#include "data/judgements/qrels.h"
#include "data/judgements/run.h"
#include "eval/evaluate.h"

namespace tandem::app {

void AddIdenticalIdsFlag(Flags& flags, bool& ignore);

// If `ignore`, takes results with the id of their query out of `run` (eval's LeaveOutIdenticalIds).
// Returns remarks on the results that were found: a warning that names the flag if it was not
// given.
std::vector<eval::Remark> TreatIdenticalIds(bool ignore, const data::Qrels* qrels, data::Run& run);

// Returns the remarks for a number of queries that have such results.
std::vector<eval::Remark> IdenticalIdsRemarks(bool ignore, size_t queries);

// Returns the remarks for a number of queries whose text is also that of a document with another
// id; none for 0.
std::vector<eval::Remark> OwnTextRemarks(size_t queries);

}  // namespace tandem::app
