// Sends arrays from rank 0 to all processes of a group.
#pragma once

#include <vector>

#include "dist/process_group.h"
#include "sampling/state.h"

namespace tandem::train {

// Returns the `arrays` of rank 0; those of other processes are ignored.
std::vector<sampling::StateArray> BroadcastArrays(dist::ProcessGroup& group,
                                                  std::vector<sampling::StateArray> arrays);

}  // namespace tandem::train
