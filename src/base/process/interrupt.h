// Stopping long work from outside: it asks now and then, saves what it has, and throws Interrupted.
#pragma once

#include <functional>
#include <string>

#include "base/error.h"

namespace tandem {

// Long work asks this between its parts. It returns the number of the signal that asks the work to
// stop, or 0 while none does; an empty function never stops it. Tandem's libraries install no
// signal handler: the program does (cli/process/signal_watch.h) or has other reasons.
using StopRequest = std::function<int()>;

// The signal that asks to stop, or 0.
inline int StopSignal(const StopRequest& stop) { return stop ? stop() : 0; }

// The work was asked to stop. Exit code 128 + signal: 130 for SIGINT, 143 for SIGTERM.
class Interrupted : public Error {
 public:
  Interrupted(int signal, const std::string& message)
      : Error(static_cast<ExitCode>(128 + signal), message) {}
};

inline void ThrowIfStopped(const StopRequest& stop) {
  if (const int signal = StopSignal(stop)) throw Interrupted(signal, "interrupted");
}

}  // namespace tandem
