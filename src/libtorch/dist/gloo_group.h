// A group of several processes on Gloo, which exchanges hosts' memory over TCP. A build for GPUs
// exchanges tensors on them by NCCL (libtorch/dist/nccl_group.h).
#pragma once

#include <memory>

#include "base/process/launch.h"
#include "dist/process_group.h"

namespace tandem::libtorch {

// Joins as ProcessGroup::Join does, for a launch of more than one: a dist::GroupMaker. In a build
// for GPUs it makes libtorch leave NCCL's errors to the group (LeaveNcclErrorsToGroups).
std::unique_ptr<dist::ProcessGroup> JoinByGloo(const Launch& launch,
                                               const dist::GroupOptions& options);

}  // namespace tandem::libtorch
