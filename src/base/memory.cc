#include "base/memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tandem {
namespace {

// Reads the memory limit of a cgroup, version 2 or 1. Without a limit: the largest number.
uint64_t CgroupLimit() {
  uint64_t bytes = 0;
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    if (file >> bytes) return bytes;  // v2 says "max" where there is no limit
  }
  return std::numeric_limits<uint64_t>::max();
}

}  // namespace

uint64_t MostResidentMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    constexpr std::string_view kKey = "VmHWM:";
    if (line.starts_with(kKey)) return std::stoull(line.substr(kKey.size())) * 1024;  // "N kB"
  }
  throw std::runtime_error("/proc/self/status does not say how much memory was resident");
}

uint64_t UsableMemory() {
  const auto machine =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return std::min(machine, CgroupLimit());
}

}  // namespace tandem
