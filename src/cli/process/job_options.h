// The user's options for a job of several processes.
#pragma once

namespace tandem::app {

struct JobOptions {
  int timeout = 300;  // seconds to wait for the other processes
};

}  // namespace tandem::app
