// Names of data and models that tell apart what has one name and is not the same.
//
// The recipe that a run keeps has the last part of each path alone, so that two runs on A/mini and
// B/mini say the same. What else their folders hold (report/records/run_inputs.h) says whether it
// was the same.
#pragma once

#include <string>
#include <vector>

#include "report/records/run_record.h"

namespace tandem::report {

// The keys of each run, where paths that lead to other data or models have as much of the path as
// tells them apart: "A/mini" and "B/mini", else "mini".
//
// Data are the same where the fingerprints of two runs are. Otherwise they are other data where
// their paths are others, or where the runs read one path alike and have other fingerprints, since
// it has been written anew then. Models are the same where their fingerprints or paths are; a part
// "seed-2" of a run of seed 2 is like "seed-3" of one of seed 3, as these go on from their own
// seed's. Of a run without either nobody knows more than the name, and it counts as the first one
// that is called so.
std::vector<KeyValues> KeysWithInputNames(const std::vector<RunRecord>& runs);

// What the run of these keys was validated on, as ValidationWords of its recipe, with the names of
// its keys; "data that its recipe does not name" where nothing is known.
std::string ValidationName(const RunRecord& run, const KeyValues& keys);

// Says whether nothing but names tells on which data the run was trained.
bool IsKnownByName(const RunRecord& run);

}  // namespace tandem::report
