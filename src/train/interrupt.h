// Stopping a run from outside: it finishes the step, saves, and throws Interrupted.
#pragma once

#include <functional>
#include <string>

#include "base/error.h"

namespace tandem::train {

// A run asks this between steps and during a validation. It returns the number of the signal that
// asks the run to stop, or 0 while none does; an empty function never stops a run. Tandem's
// libraries install no signal handler: the program does (app/signal_watch.h) or has other reasons.
using StopRequest = std::function<int()>;

// The signal that asks to stop, or 0.
inline int StopSignal(const StopRequest& stop) { return stop ? stop() : 0; }

// The run was asked to stop. Exit code 128 + signal: 130 for SIGINT, 143 for SIGTERM.
class Interrupted : public Error {
 public:
  Interrupted(int signal, const std::string& message)
      : Error(static_cast<ExitCode>(128 + signal), message) {}
};

}  // namespace tandem::train
