#include "cli/globals.h"

#include "base/process/threads.h"

namespace tandem::app {

Globals& GlobalOptions() {
  static Globals globals;
  return globals;
}

int Threads() {
  const int threads = GlobalOptions().threads;
  return threads > 0 ? threads : UsableThreads();
}

}  // namespace tandem::app
