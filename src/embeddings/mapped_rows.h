// Rows of embeddings that stay in their file: the system reads them when they are looked at, and
// holds them in memory once.
#pragma once

#include <cstddef>
#include <span>

#include "base/files/files.h"
#include "embeddings/blocks.h"

namespace tandem::embeddings {

struct MappedRows {
  size_t rows = 0;
  size_t columns = 0;  // E
  MappedFile file;
  std::span<const float> values;  // [rows, columns], in `file`
};

// `rows` rows from place.start on, which is a multiple of 4 and after which the file has as many.
MappedRows MapRows(MappedFile file, const RowPlace& place, size_t rows);

}  // namespace tandem::embeddings
