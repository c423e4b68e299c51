// Texts of any length on one line, or on lines of a width, cut between words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::report {

// `text` on one line of at most `columns` columns, blanks and ASCII's control characters as single
// spaces; what is longer is cut between words (within a word that is longer than half a line) and
// ends in "…". Printable, valid UTF-8 (text/width/display_width.h).
std::string OneLine(std::string_view text, size_t columns);

// The words of `text` on lines of at most `columns` columns (at least 1), blanks as for OneLine. A
// word that is longer than a line is cut into several. A text without words gives one empty line.
std::vector<std::string> WrappedLines(std::string_view text, size_t columns);

// `text` in at most `columns` columns; of a longer one the end, after "…". Printable, valid UTF-8.
std::string EndOfLine(std::string_view text, size_t columns);

// `text` in at most `columns` columns; of a longer one a third of these for its beginning, "…", and
// its end. Printable, valid UTF-8.
std::string EndsOfLine(std::string_view text, size_t columns);

}  // namespace tandem::report
