// Exchanges between the memories of GPUs by NCCL, for processes that have met
// (libtorch/dist/gloo_group.h). Only builds with TANDEM_WITH_CUDA have it.
#pragma once

#include <c10/core/Device.h>

#include <chrono>
#include <string>

#include "libtorch/dist/c10d_versions.h"

namespace tandem::libtorch {

// NCCL's operations for process `rank` of `ranks`, each of which has a GPU of its own. Processes
// find each other by the store when they first use a GPU, so that a job that never does loads
// nothing. Operations of that backend return before they have run; `timeout` is when NCCL itself
// gives up. Throws where this process has no GPU.
c10::intrusive_ptr<Backend> MakeNccl(StorePointer store, int rank, int ranks,
                                     std::chrono::milliseconds timeout);

// Tells the GPU `device` of this process from all others, of other machines too, as NCCL does: by
// the machine and its bus. Parts of one GPU (MIG) are the same.
std::string IdentityOf(c10::Device device);

// Makes libtorch leave it to a group to say who was lost. Otherwise threads of its own end the
// process where NCCL reports an error or hangs, with SIGABRT and without naming a rank. Sets
// TORCH_NCCL_ASYNC_ERROR_HANDLING=0 and TORCH_NCCL_ENABLE_MONITORING=0 where they are not set; to
// be called while no other thread reads the environment.
void LeaveNcclErrorsToGroups();

}  // namespace tandem::libtorch
