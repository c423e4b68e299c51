// Flags that every command takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tandem::app {

struct Globals {
  int threads = 0;              // 0: all that the machine gives
  std::string precision = "";   // "" (the command's default), as tensor::ResolvePrecision reads it
  std::string device = "";      // "" (the recipe's, or cpu), as tensor::ResolveDevice reads it
  std::optional<int64_t> seed;  // none: the recipe's
  bool quiet = false;
  int timeout = 300;  // seconds that the other processes of a job may take (job_flags.h)
};

// Set once by `main` before a command runs.
Globals& GlobalOptions();
// GlobalOptions().threads, or UsableThreads() for 0.
int Threads();

}  // namespace tandem::app
