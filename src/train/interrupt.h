// Stopping a run from outside: finish the step, save, exit.
#pragma once

#include <csignal>

#include "base/error.h"

namespace tandem::train {

// While one is alive, the first SIGINT or SIGTERM is noted and the second ends the process at once.
// A signal that the parent had ignored (nohup's way of starting a program) stays ignored.
class SignalWatch {
 public:
  SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch();  // puts back what was there before

  // The signal that came, or 0.
  static int Received();

 private:
  struct sigaction interrupt_before_ {};
  struct sigaction terminate_before_ {};
};

// The run was asked to stop. Exit code 128 + signal: 130 for SIGINT, 143 for SIGTERM.
class Interrupted : public Error {
 public:
  Interrupted(int signal, const std::string& message)
      : Error(static_cast<ExitCode>(128 + signal), message) {}
};

}  // namespace tandem::train
