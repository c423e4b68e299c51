// Reports before the first step that a run needs more memory or disk space than there is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/process/memory_limits.h"
#include "train/checks/least_memory.h"
#include "train/checks/memory_need.h"
#include "train/run/run_folder.h"

namespace tandem::train {

// Whether a run that cannot fit is refused.
enum class Shortage {
  kRefuse,  // an error
  kWarn,    // a warning; the run begins nevertheless (--ignore-limits)
};

// Throws UsageError if the run needs more than a hard bound allows; the message names the bound
// that is exceeded most. Warns if the system would slow the run down, or if the machine has less
// memory free at the moment.
void CheckMemory(const LeastMemory& least, const MemoryLimits& limits, Shortage shortage);

// The disk space that a run folder takes already, and the space that is free.
struct DiskRoom {
  uint64_t present = 0;  // bytes of checkpoints and model in the run folder
  uint64_t free = 0;     // bytes that this process may use on the folder's file system
};
// Returns the disk space for a run folder; none if the system does not report its free space.
std::optional<DiskRoom> RoomOf(const RunFolder& folder);

// Throws OutputError (exit code 3, as for a full disk) if the run's checkpoints and model do not
// fit.
void CheckDisk(const DiskNeed& need, const DiskRoom& room, const std::filesystem::path& folder,
               Shortage shortage);

}  // namespace tandem::train
