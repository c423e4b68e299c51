// SIGINT and SIGTERM while a run goes on: the program remembers the first and the run stops itself.
#pragma once

#include <csignal>

namespace tandem::app {

// While one is alive, the process remembers the first SIGINT or SIGTERM, and the second one ends it
// at once. A signal that the parent process had ignored (as nohup does) stays ignored.
class SignalWatch {
 public:
  SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch();  // puts back the handlers that were there before

  // The signal that came, or 0.
  static int Received();

 private:
  struct sigaction interrupt_before_ {};
  struct sigaction terminate_before_ {};
};

}  // namespace tandem::app
