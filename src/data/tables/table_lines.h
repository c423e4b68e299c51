// Tables in place of training lines: each row is a line whose keys are the names of the columns, so
// that what a key means (data/lines/) is what a column means.
#pragma once

#include <filesystem>

#include "data/input/line_reader.h"
#include "data/warnings.h"

namespace tandem::data {

// Opens a file of training lines. Of a table (IsTablePath) the reader gives every row as a JSON
// object of strings, numbered as the row's first line; a row with a problem is a DataError, since
// training data are read whole or not at all (`tandem import` leaves such rows out). Every other
// file is read as LineReader reads it.
LineReader OpenTrainingLines(const std::filesystem::path& path, Warnings& warnings);

}  // namespace tandem::data
