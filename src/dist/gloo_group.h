// A group of several processes on Gloo, which exchanges hosts' memory over TCP. A build for GPUs
// exchanges tensors on them by NCCL (dist/nccl_group.h).
#pragma once

#include <memory>

#include "base/process/launch.h"
#include "dist/process_group.h"

namespace tandem::dist {

// Joins as ProcessGroup::Join does, for a launch of more than one.
std::unique_ptr<ProcessGroup> JoinByGloo(const Launch& launch, const GroupOptions& options);

}  // namespace tandem::dist
