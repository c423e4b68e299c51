// What a user says of a job of several processes.
#pragma once

namespace tandem::app {

struct JobOptions {
  int timeout = 300;  // seconds that the other processes may take
};

}  // namespace tandem::app
