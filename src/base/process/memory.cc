#include "base/process/memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/process/memory_limits.h"

namespace tandem {

uint64_t MostResidentMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    constexpr std::string_view kKey = "VmHWM:";
    if (line.starts_with(kKey)) return std::stoull(line.substr(kKey.size())) * 1024;  // "N kB"
  }
  throw std::runtime_error("/proc/self/status does not say how much memory was resident");
}

uint64_t UsableMemory() {
  auto usable =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  for (const MemoryBound& bound : ReadMemoryLimits().bounds) {
    if (bound.kind == MemoryKind::kHeld && bound.hard) usable = std::min(usable, bound.bytes);
  }
  return usable;
}

}  // namespace tandem
