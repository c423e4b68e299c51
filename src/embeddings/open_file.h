// Opening and sizing files that one process at a time fills.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "base/files/file_parts.h"

namespace tandem::embeddings {

// Opens the file that has this name, made where there is none, with its lock (flock, which the
// kernel drops with the process; file systems without locks have no such guard). While another
// process holds it, `busy` is called again and again: it pauses, or throws. The result is not open,
// and errno says why, where the file cannot be.
FileDescriptor OpenLocked(const std::filesystem::path& path, const std::function<void()>& busy);

// Says whether an error says that there is no room for a file.
bool IsFull(int error);

// Gives a file this size, with room for all of it where the file system takes room ahead. Returns
// 0, or the error, with which IsFull holds where the disk is too small.
int GiveSize(int descriptor, uint64_t bytes);

// Takes room up to `bytes` bytes and leaves the size. Returns 0, or an error with which IsFull
// holds; where the file system takes no room ahead, nothing is done.
int TakeRoomAhead(int descriptor, uint64_t bytes);

}  // namespace tandem::embeddings
