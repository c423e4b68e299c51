// `--ignore-identical-ids`: what commands do about documents that have the id of their query.
#pragma once

#include <cstddef>
#include <vector>

#include "cli/flags.h"
#include "data/judgements/qrels.h"
#include "data/judgements/run.h"
#include "eval/evaluate.h"

namespace tandem::app {

void AddIdenticalIdsFlag(Flags& flags, bool& ignore);

// Takes results with the id of their query out of `run` where that was asked for (eval's
// LeaveOutIdenticalIds), and says what was found: a warning that names the flag where it was not.
std::vector<eval::Remark> TreatIdenticalIds(bool ignore, const data::Qrels* qrels, data::Run& run);

// What there is to say of a number of queries that have such results.
std::vector<eval::Remark> IdenticalIdsRemarks(bool ignore, size_t queries);

// Of queries whose text is a document of another id: nothing for 0.
std::vector<eval::Remark> OwnTextRemarks(size_t queries);

}  // namespace tandem::app
