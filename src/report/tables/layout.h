// The columns of a table as lines of a terminal.
//
// A table that is wider than the terminal is made to fit, in this order: long texts are cut or
// wrapped; a table of fewer rows than columns is turned, so that each column becomes a line; the
// columns are folded into blocks of lines, each of which begins with the first column again.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tandem::report {

// How a text is shown that is too long for its column: it is cut and ends in "…", or goes on in the
// next line. kKeep: it does so too, but only where turning and folding do not help.
enum class LongText { kCut, kWrap, kKeep };

struct ShownCell {
  std::string text;
  bool is_number = false;
  bool is_best = false;  // printed in bold on a terminal
};

struct ShownColumn {
  std::string heading;
  std::vector<ShownCell> cells;  // as many in every column
  size_t least_width = 0;        // columns of the terminal that it takes at least
  LongText when_long = LongText::kCut;
};

struct LayoutOptions {
  size_t columns = 80;  // of the terminal
  bool bold = false;
  bool heading = true;  // whether a line of headings comes first
  size_t indent = 0;    // blanks before each line
  size_t gap = 2;       // blanks between columns
};

// Writes a line for each row, each with "\n", without blanks at its end. Numbers stand below each
// other by their decimal points; columns that hold numbers and "-" only are aligned to the right,
// others to the left. No line is wider than `options.columns`, as long as a number with the first
// kLeastTextColumns columns of its row fits into a line: numbers are never cut.
std::string LayOut(std::vector<ShownColumn> columns, const LayoutOptions& options);

// The least number of columns that is left of a long text.
inline constexpr size_t kLeastTextColumns = 12;

}  // namespace tandem::report
