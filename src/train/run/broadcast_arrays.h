// Rank 0's arrays on every process of a group.
#pragma once

#include <vector>

#include "dist/process_group.h"
#include "sampling/state.h"

namespace tandem::train {

// Returns rank 0's `arrays`; what other processes give does not count.
std::vector<sampling::StateArray> BroadcastArrays(dist::ProcessGroup& group,
                                                  std::vector<sampling::StateArray> arrays);

}  // namespace tandem::train
