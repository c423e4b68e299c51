// Stopping a run from outside: finish the step, save, exit.
#pragma once

#include "base/error.h"

namespace tandem::train {

// While one is alive, the first SIGINT or SIGTERM is noted and the second ends the process at once.
class SignalWatch {
 public:
  SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch();  // puts the default handlers back

  // The signal that came, or 0.
  static int Received();
};

// The run was asked to stop. Exit code 128 + signal: 130 for SIGINT, 143 for SIGTERM.
class Interrupted : public Error {
 public:
  Interrupted(int signal, const std::string& message)
      : Error(static_cast<ExitCode>(128 + signal), message) {}
};

}  // namespace tandem::train
