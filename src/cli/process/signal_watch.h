// Watches for SIGINT and SIGTERM during a run: the program remembers the first signal, and the run
// stops itself.
#pragma once

#include <csignal>

namespace tandem::app {

// While an object exists, the process remembers the first SIGINT or SIGTERM, and the second one
// ends it at once. A signal that the parent process ignored (as nohup does) stays ignored.
class SignalWatch {
 public:
  SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch();  // restores the earlier handlers

  // Returns the signal that came, or 0.
  static int Received();

 private:
  struct sigaction interrupt_before_ {};
  struct sigaction terminate_before_ {};
};

}  // namespace tandem::app
