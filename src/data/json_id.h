// Ids in JSON lines.
#pragma once

#include <span>
#include <string_view>

#include "data/json_line.h"
#include "data/line_reader.h"

namespace tandem::data {

// The id under `key`: a string, or an integer in decimal. Throws DataError where it is missing, of
// another type, empty, or holds a control character: tabs and line ends would break every file that
// ids are written to.
std::string_view RequireId(const LineReader& reader, std::span<const JsonField> fields,
                           std::string_view key);

}  // namespace tandem::data
