// Where the time of a run went, and when its validations came.
#pragma once

#include "report/records/run_record.h"

namespace tandem::report {

// Fills in `times`, `most_memory_bytes`, `seconds_to_best` and `seconds_to_validations` of a run
// whose log has been read.
void AddTimes(const TimingLog& timing, RunRecord& run);

}  // namespace tandem::report
