// Rows of whatever a person has: the seam between readers of files and `tandem import`.
//
// A row is named values, as a line of JSON or of a table has them. Whoever can give such rows (of
// files of tables, of JSON, of pairs that are found in documents) derives from RowSource; columns,
// labels, splits and the folder that is written are then the same for all.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "data/lines/json_line.h"

namespace tandem::import_data {

struct Row {
  std::span<const data::JsonField> cells;  // each name once
  std::string_view file;
  int64_t line = 0;      // of the file, from 1
  uint64_t element = 0;  // of a JSON array, from 1; 0: the row is none
  std::string_view raw;  // as it stands there; may be no UTF-8
  // Why the row cannot be used, and by which kind it is counted ("rows that are not UTF-8"). "": it
  // can.
  std::string problem;
  std::string_view problem_kind;
};

class RowSource {
 public:
  virtual ~RowSource() = default;

  // The next row, valid until the next call; false at the end. Throws DataError where the file
  // cannot be read on.
  virtual bool Next(Row* row) = 0;
  // One phrase that says what is read and how: "CSV, separated by semicolons".
  virtual std::string Description() const = 0;
  // The names of the columns, where the source knows them before its rows; else empty.
  virtual std::span<const std::string> columns() const { return {}; }
};

}  // namespace tandem::import_data
