// Whether a run's record can be counted.
#pragma once

#include <optional>
#include <string>

#include "report/records/run_record.h"

namespace tandem::report {

enum class RunState {
  kFinished,
  kRepeated,    // finished, and its group has a run of its seed already
  kUnfinished,  // its log has no end, or it has none yet
  kBroken       // its recipe or its log cannot be read, or the log contradicts itself
};

// As the record by itself says: never kRepeated.
RunState StateOf(const RunRecord& run);

// Why a run's log cannot be counted, with file, line, key and what to do: no line of it can be
// read, or its end tells another best validation than its other rows do. None where it can.
std::optional<std::string> LogFault(const RunRecord& run);

}  // namespace tandem::report
