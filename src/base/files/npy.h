// NumPy's .npy files, version 1.0, float32, two dimensions, C order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "base/files/files.h"

namespace tandem {

// The first bytes of a file of float32 [rows, columns]; as many for any numbers, so that they can
// be written anew once the rows are counted.
std::string NpyHeader(size_t rows, size_t columns);
inline constexpr size_t kNpyHeaderBytes = 128;  // room for 20-digit counts; NumPy asks for 64s

// Writes rows as they come and fills in their number at the end. Throws OutputError.
class NpyWriter {
 public:
  // `columns` is E in float32 [N, E].
  NpyWriter(const std::filesystem::path& path, size_t columns);
  // Appends whole rows: `values.size()` must be a multiple of `columns`.
  void Append(std::span<const float> values);
  // Completes the file and renames it to its final name.
  void Commit();

 private:
  AtomicFile file_;
  size_t columns_;
  size_t rows_ = 0;
};

struct NpyShape {
  size_t rows = 0;
  size_t columns = 0;
};

// Throws as ReadNpy does; the values are not read.
NpyShape ReadNpyShape(const std::filesystem::path& path);

// A matrix whose values stay in the file: the system reads them when they are looked at, and holds
// them in memory once.
struct NpyMatrix {
  size_t rows = 0;
  size_t columns = 0;
  MappedFile file;
  std::span<const float> values;  // [rows, columns], in `file`
};

// Throws DataError when the file is not a little-endian float32 C-order matrix or is cut short.
NpyMatrix ReadNpy(const std::filesystem::path& path);

}  // namespace tandem
