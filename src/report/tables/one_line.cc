#include "report/tables/one_line.h"

#include <algorithm>

#include "text/width/display_width.h"

namespace tandem::report {
namespace {

constexpr size_t kLeastPart = 3;  // columns of a wide character and "…"

bool IsBlank(char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7F; }

// Takes the first word off `text`, printable; "" at its end.
std::string NextWord(std::string_view& text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  size_t end = 0;
  while (end < text.size() && !IsBlank(text[end])) ++end;
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return text::Printable(word);
}

}  // namespace

std::string OneLine(std::string_view text, size_t columns) {
  std::string line;
  size_t width = 0;
  size_t fitting = 0;     // bytes of `line` after which "…" still fits
  size_t last_width = 0;  // of its last word
  for (std::string word = NextWord(text); !word.empty(); word = NextWord(text)) {
    const size_t gap = line.empty() ? 0 : 1;
    const size_t word_width = text::DisplayWidth(word);
    if (width + gap + word_width > columns) {
      // A word of more than half a line, as texts without blanks have them, is cut within as well:
      // without its start the line would say little.
      const bool is_long = 2 * word_width > columns && width + gap + kLeastPart <= columns;
      // So is one that ends at the last column, where no "…" fits behind it.
      const bool ends_long = fitting < line.size() && 2 * last_width > columns;
      if (fitting == 0 || is_long || ends_long) {
        return text::CutToWidth(line.empty() ? word : line + " " + word, columns);
      }
      line.resize(fitting);
      return line + "…";
    }
    line.append(gap, ' ').append(word);
    width += gap + word_width;
    last_width = word_width;
    if (width < columns) fitting = line.size();
  }
  return line;
}

std::string EndOfLine(std::string_view text, size_t columns) {
  const std::string line = text::Printable(text);
  if (text::DisplayWidth(line) <= columns) return line;
  if (columns == 0) return "";
  std::string_view end = line;
  while (text::DisplayWidth(end) >= columns) {
    std::string_view first = text::HeadOfWidth(end, 1);
    if (first.empty()) first = text::HeadOfWidth(end, 2);  // a wide character
    end.remove_prefix(first.size());
  }
  return "…" + std::string(end);
}

std::string EndsOfLine(std::string_view text, size_t columns) {
  const std::string line = text::Printable(text);
  if (text::DisplayWidth(line) <= columns) return line;
  const std::string begin(text::HeadOfWidth(line, columns / 3));
  return begin + EndOfLine(line, columns - text::DisplayWidth(begin));
}

std::vector<std::string> WrappedLines(std::string_view text, size_t columns) {
  columns = std::max<size_t>(1, columns);
  std::vector<std::string> lines(1);
  size_t width = 0;  // of the last line
  for (std::string word = NextWord(text); !word.empty(); word = NextWord(text)) {
    const size_t word_width = text::DisplayWidth(word);
    if (width > 0 && width + 1 + word_width <= columns) {
      lines.back().append(" ").append(word);
      width += 1 + word_width;
      continue;
    }
    if (!lines.back().empty()) lines.emplace_back();
    std::string_view rest = word;
    while (text::DisplayWidth(rest) > columns) {
      const std::string_view head = text::HeadOfWidth(rest, columns);
      if (head.empty()) break;  // a wide character on lines of one column
      lines.back().assign(head);
      lines.emplace_back();
      rest.remove_prefix(head.size());
    }
    lines.back().assign(rest);
    width = text::DisplayWidth(rest);
  }
  return lines;
}

}  // namespace tandem::report
