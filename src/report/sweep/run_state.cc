#include "report/sweep/run_state.h"

namespace tandem::report {

RunState StateOf(const RunRecord& run) {
  if (run.keys.empty()) return RunState::kBroken;
  return run.log.finished ? RunState::kFinished : RunState::kUnfinished;
}

}  // namespace tandem::report
