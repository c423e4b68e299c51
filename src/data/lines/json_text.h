// Writes strings and numbers as JSON, for the formats of one object per line.
#pragma once

#include <string>
#include <string_view>

namespace tandem::data {

// Appends `text` in quotes. Only quotes, backslashes, control characters and the line separators
// U+2028 and U+2029 are escaped: programs that cut a file at those two (Python's splitlines) still
// find its lines. Throws DataError naming `id` where the text is not valid UTF-8, which no reader
// of this room lets through.
void AppendJsonString(std::string& out, std::string_view text, std::string_view id = {});

// Appends a finite number with as many digits as reading the same one takes.
void AppendJsonNumber(std::string& out, double number);

}  // namespace tandem::data
