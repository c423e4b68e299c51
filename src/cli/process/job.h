// The processes that a launcher (torchrun, srun, mpirun, Kubernetes) has started together.
#pragma once

#include <functional>
#include <string>

#include "cli/process/job_options.h"
#include "dist/process_group.h"

namespace tandem::app {

// Runs `body` with the group of this process's launch, which is a group of one without a launcher.
// `command` says what runs ("train --check"): an error where processes run different ones, or
// different versions of Tandem.
// Rank 0 alone writes notes, warnings and progress. Where `body` throws, the others are told, and a
// process of a larger group ends here with the error's exit code: threads of its group may wait for
// processes that are gone.
void RunInGroup(const std::string& command, const JobOptions& options,
                const std::function<void(dist::ProcessGroup& group)>& body);

// The group that RunInGroup runs in, for what encodes together; null outside of it and in a group
// of one.
dist::ProcessGroup* CurrentGroup();

}  // namespace tandem::app
