// Reads from the system's files the bounds of this process's memory, and how much memory it holds.
//
// Each function takes the folder that stands for "/", so that tests can give one of their own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tandem {

// The measure of a process's memory that a bound limits.
enum class MemoryKind {
  kHeld,       // pages that it has written to; those of files that it reads are given back first
  kAddresses,  // all that is mapped (ulimit -v)
  kData,       // what is mapped to be written to and is no file's (ulimit -d)
};

struct MemoryBound {
  MemoryKind kind = MemoryKind::kHeld;
  uint64_t bytes = 0;
  uint64_t swap = 0;  // that may be taken beyond `bytes`
  // Beyond a hard bound the kernel ends the process or gives it no memory; beyond another one
  // (memory.high) it slows it down.
  bool hard = true;
  std::string what;  // "memory.max of cgroup /jobs/7", "ulimit -v", "this machine's memory"
};

struct MemoryLimits {
  // The bounds of the process's cgroup (version 2 or 1) and of all above it, of the process itself
  // and of the machine; empty where the system says none.
  std::vector<MemoryBound> bounds;
  uint64_t available = 0;  // that the machine could give now without swapping (MemAvailable)
};
MemoryLimits ReadMemoryLimits(const std::filesystem::path& root = "/");

// Bytes of this process now, by kind.
struct HeldMemory {
  uint64_t held = 0;
  uint64_t addresses = 0;
  uint64_t data = 0;
};
HeldMemory ReadHeldMemory(const std::filesystem::path& root = "/");

}  // namespace tandem
