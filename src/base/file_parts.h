// Parts of an open file, read and written where they are.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem {

// Reads exactly `size` bytes from `offset`. False where the file ends before, or cannot be read.
bool ReadPart(int descriptor, uint64_t offset, void* to, size_t size);

// Writes them all. False, with errno, where they cannot be written.
bool WritePart(int descriptor, uint64_t offset, const void* from, size_t size);

}  // namespace tandem
