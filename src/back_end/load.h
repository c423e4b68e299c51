// Finds and loads the plug-in libtandem-torch.so (back_end/table.h). Without it a program computes
// on the processor, alone.
#pragma once

#include <filesystem>
#include <optional>

namespace tandem::back_end {

// Where the plug-in is: TANDEM_BACK_END (a path, where it is set and not empty, whether there is a
// file or not), else beside this process's program, else in the folder of an installation's
// libraries. None: it is in none of these.
std::optional<std::filesystem::path> FindPlugIn();

// Loads the plug-in, which stays until the process ends, and lets it register what it has. Throws
// UsageError, which says what to install, where it is cut short, cannot be loaded, is no back end
// or one of another version, and MissingBackEnd (tensor/core/back_end/missing_back_end.h) where it
// is not there.
void LoadPlugIn();

// Makes LoadPlugIn what the rooms call where they first need a back end (tensor::LoadBackEnd).
// Programs that export their rooms call it at their start.
void UsePlugIn();

}  // namespace tandem::back_end
