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
  std::optional<int64_t> seed;  // none: the recipe's, or 1
  bool quiet = false;
};

// The threads, UsableThreads() for 0.
int ThreadsOf(const Globals& globals);
// The seed of commands without a recipe: 1 where none is given.
uint64_t SeedOf(const Globals& globals);

}  // namespace tandem::app
