#include "app/version.h"

#include <fmt/format.h>

#include "base/threads.h"

namespace tandem::app {

std::string VersionText() {
  return fmt::format("tandem {}\nfmt {}.{}.{}\nthreads {}", TANDEM_VERSION, FMT_VERSION / 10000,
                     FMT_VERSION / 100 % 100, FMT_VERSION % 100, UsableThreads());
}

}  // namespace tandem::app
