// The flags of commands that several processes can run together.
#pragma once

#include "cli/flags.h"
#include "cli/process/job_options.h"

namespace tandem::app {

inline void AddTimeoutFlag(Flags& flags, JobOptions& options) {
  flags
      .Add("--timeout", options.timeout,
           "Seconds after which a process of the same job that does not answer is lost (several "
           "processes only: torchrun, srun, mpirun)")
      .Between(1, 1'000'000)
      .ShowDefault();
}

}  // namespace tandem::app
