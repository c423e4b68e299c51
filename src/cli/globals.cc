#include "cli/globals.h"

#include "base/process/threads.h"

namespace tandem::app {

int ThreadsOf(const Globals& globals) {
  return globals.threads > 0 ? globals.threads : UsableThreads();
}

uint64_t SeedOf(const Globals& globals) { return static_cast<uint64_t>(globals.seed.value_or(1)); }

}  // namespace tandem::app
