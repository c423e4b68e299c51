// What each run of a sweep came to, data set by data set.
#pragma once

#include <string>
#include <vector>

#include "report/sweep/sweep.h"

namespace tandem::report {

// The measure that is asked for, else the one by which most of the runs that choose were chosen.
// Throws UsageError where none of them has it, with those that they have.
std::string ChosenMeasure(const Sweep& sweep, const std::string& asked);

// The results on the data of finished runs, validations first, those of most runs before others.
// Other runs choose neither data nor their order; what they have on these data is there too.
// Without a finished run, those that have not finished choose. Empty where no run has a result.
std::vector<SweepData> ResultsByData(const Sweep& sweep, const std::string& measure);

}  // namespace tandem::report
