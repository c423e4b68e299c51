// Says before the first step that a run needs more memory or disk than there is.
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

// What happens where a run cannot fit.
enum class Shortage {
  kRefuse,  // an error
  kWarn,    // a warning: the run begins all the same (--ignore-limits)
};

// Throws UsageError where a hard bound is below what the run needs at least, by the bound that is
// exceeded most; warns where the run would be slowed down, or where the machine has less free now.
void CheckMemory(const LeastMemory& least, const MemoryLimits& limits, Shortage shortage);

// What the run writes, and what of it is there.
struct DiskRoom {
  uint64_t present = 0;  // bytes of checkpoints and model in the run folder
  uint64_t free = 0;     // that this process may use on its file system
};
// None where the system does not say what is free.
std::optional<DiskRoom> RoomOf(const RunFolder& folder);

// Throws OutputError (exit 3, as a full disk) where the run's checkpoints and model do not fit.
void CheckDisk(const DiskNeed& need, const DiskRoom& room, const std::filesystem::path& folder,
               Shortage shortage);

}  // namespace tandem::train
