// The resident memory of this process, for tests that something takes no memory.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace tandem {

inline size_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  size_t all = 0, resident = 0;
  file >> all >> resident;  // pages
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace tandem
