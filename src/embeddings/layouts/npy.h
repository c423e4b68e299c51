// NumPy's .npy files, version 1.0, float32, two dimensions, C order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "embeddings/mapped_rows.h"

namespace tandem::embeddings {

// The first bytes of a file of float32 [rows, columns]; as many for any numbers, so that they can
// be written anew once the rows are counted.
std::string NpyHeader(size_t rows, size_t columns);
inline constexpr size_t kNpyHeaderBytes = 128;  // room for 20-digit counts; NumPy asks for 64s

// Writes `values`, float32 [*, columns], in one piece. Throws OutputError.
void WriteNpy(const std::filesystem::path& path, size_t columns, std::span<const float> values);

struct NpyShape {
  size_t rows = 0;
  size_t columns = 0;
};

// Throws as ReadNpy does; the values are not read.
NpyShape ReadNpyShape(const std::filesystem::path& path);

// Throws DataError when the file is not a little-endian float32 C-order matrix or is cut short.
MappedRows ReadNpy(const std::filesystem::path& path);

}  // namespace tandem::embeddings
