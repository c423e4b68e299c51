// Runs the processes that a launcher (torchrun, srun, mpirun, Kubernetes) has started as one group.
#pragma once

#include <functional>
#include <string>

#include "cli/process/job_options.h"
#include "dist/process_group.h"

namespace tandem::app {

// Runs `body` with the group of this process's launch. Without a launcher this is a group of one.
// `command` names the command ("train --check"); it is an error if processes run different
// commands, or different versions of Tandem. Only rank 0 writes notes, warnings and progress. If
// `body` throws, the other processes are told, and a process of a larger group ends here with the
// error's exit code, because threads of its group may wait for processes that no longer exist.
void RunInGroup(const std::string& command, const JobOptions& options,
                const std::function<void(dist::ProcessGroup& group)>& body);

// Returns the group that RunInGroup runs in, for processes that encode together; null outside of it
// and in a group of one.
dist::ProcessGroup* CurrentGroup();

}  // namespace tandem::app
