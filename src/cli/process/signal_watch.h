// SIGINT and SIGTERM: the first one during watched work is remembered, and the work stops itself
// between its blocks; any other ends the process at once and leaves no unfinished file.
#pragma once

#include <csignal>
#include <string_view>

namespace tandem::app {

// From here on SIGINT and SIGTERM remove the temporary files and folders of this process
// (base/files/temporary_paths.h) and end it with 128 + signal. A signal that the parent process
// ignored (as nohup does) stays ignored. Starts a thread, which does what a handler may not.
void CleanUpOnSignals();

// While an object exists, the process remembers the first SIGINT or SIGTERM, and says at once that
// it finishes what is under way; the second one ends it as above. Objects are not nested.
class SignalWatch {
 public:
  // `part` is what the work is stopped after: "finishing a block (up to 3 s); again to stop at
  // once". Must outlive the object.
  explicit SignalWatch(const char* part = "a block");
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch();  // restores the earlier handlers

  // Returns the signal that came, or 0; also without any object. Work asks between its blocks: how
  // long it takes from one time to the next is what the message says.
  static int Received();

  // Work that does not ask for long may tell, from a first 0 on, which share of it is done, up to
  // 1: from that the message says how long it takes, also where no part has ended before.
  static void DoneOfPart(double share);

 private:
  struct sigaction interrupt_before_ {};
  struct sigaction terminate_before_ {};
};

}  // namespace tandem::app
