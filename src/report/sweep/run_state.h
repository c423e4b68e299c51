// Whether a run's record can be counted.
#pragma once

#include <string>

#include "report/records/run_record.h"

namespace tandem::report {

enum class RunState {
  kFinished,
  kUnfinished,  // its log has no end
  kBroken       // its recipe or its log cannot be read, or the log contradicts itself
};
RunState StateOf(const RunRecord& run);

}  // namespace tandem::report
