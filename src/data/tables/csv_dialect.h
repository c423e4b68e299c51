// Finds out from the start of a file how its fields are told apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "data/tables/csv_rows.h"

namespace tandem::data {

// Bytes from which the dialect is told.
inline constexpr size_t kDialectBytes = size_t{1} << 16;

// How a table's fields are told apart, and what was passed over to find that out.
struct FoundDialect {
  CsvDialect dialect;
  size_t skipped_bytes = 0;  // of the start: a line "sep=;", which Excel writes and reads
};

struct DialectQuestion {
  std::string_view start;                 // the first bytes of the file, without a byte order mark
  bool is_whole = false;                  // the file has no others
  int64_t header_line = 1;                // rows before this line are passed over
  std::string_view delimiters = ",;\t|";  // that are tried, in this order
  bool quotes = true;
};

// The delimiter is the one at which most of the first 100 rows have as many fields as the first
// row, at least two; of those with equally many the first one. Where none has two fields, it is the
// first of the delimiters. A first line "sep=X" decides.
FoundDialect FindDialect(const DialectQuestion& question);

}  // namespace tandem::data
