// Flags of commands that several processes can run together.
#pragma once

#include "cli/flags.h"
#include "cli/globals.h"

namespace tandem::app {

inline void AddTimeoutFlag(Flags& flags) {
  flags
      .Add("--timeout", GlobalOptions().timeout,
           "Seconds after which a process of the same job that does not answer is lost (several "
           "processes only: torchrun, srun, mpirun)")
      .Between(1, 1'000'000)
      .ShowDefault();
}

}  // namespace tandem::app
