// Runs the work of a command until a signal asks it to stop.
#pragma once

#include <string>

#include "base/process/interrupt.h"
#include "cli/process/job.h"
#include "cli/process/signal_watch.h"
#include "dist/process_group.h"

namespace tandem::app {

// Throws Interrupted if a signal has asked the work to stop.
inline void StopIfAsked() {
  if (const int signal = SignalWatch::Received()) throw Interrupted(signal, "interrupted");
}

// Returns what `work` returns. A first SIGINT or SIGTERM lets it finish its block (BulkOptions asks
// for signals); the Interrupted that it throws then says `left`: what was not done, and what is
// kept. Results are written afterwards, where a signal ends the program at once. Processes of a
// group are not watched: the signal ends each at once.
template <typename Work>
auto UntilStopped(const std::string& left, const Work& work) -> decltype(work()) {
  if (dist::IsShared(CurrentGroup())) return work();
  const SignalWatch signals;
  try {
    return work();
  } catch (const Interrupted&) {  // says less
    throw Interrupted(SignalWatch::Received(), "interrupted; " + left);
  }
}

}  // namespace tandem::app
