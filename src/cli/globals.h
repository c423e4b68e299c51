// The flags that every command has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tandem::app {

struct Globals {
  int threads = 0;              // 0: all threads that the machine offers
  std::string precision = "";   // as tensor::ResolvePrecision reads it; "": the command's default
  std::string device = "";      // as tensor::ResolveDevice reads it; "": the recipe's, or cpu
  std::optional<int64_t> seed;  // none: the recipe's, or 1
  bool quiet = false;
};

// Returns the number of threads; UsableThreads() for 0.
int ThreadsOf(const Globals& globals);
// Returns the seed of commands without a recipe: 1 if none is given.
uint64_t SeedOf(const Globals& globals);

}  // namespace tandem::app
