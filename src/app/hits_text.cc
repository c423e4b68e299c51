#include "app/hits_text.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace tandem::app {
namespace {

constexpr size_t kUsualColumns = 80;
constexpr size_t kLeastTextColumns = 30;  // with fewer, a text has a line of its own
constexpr size_t kIndent = 6;             // of such a line: behind the rank

struct CodePoint {
  uint32_t value = 0;
  size_t bytes = 1;
};

// The code point at the start of `text`, which is not empty. A byte that starts none is one by
// itself.
CodePoint First(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const size_t bytes = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (bytes > text.size()) return {lead, 1};
  uint32_t value = bytes == 1 ? lead : lead & (0x7Fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0) != 0x80) return {lead, 1};
    value = value << 6 | (next & 0x3F);
  }
  return {value, bytes};
}

// Columns that a terminal takes for a code point: none for accents that are put over the letter
// before, two for the wide characters of East Asia and for emoji.
size_t ColumnsOf(uint32_t code_point) {
  struct Range {
    uint32_t first, last;
  };
  const auto in = [code_point](const Range& range) {
    return code_point >= range.first && code_point <= range.last;
  };
  constexpr Range kNone[] = {{0x300, 0x36F}, {0x200B, 0x200F}, {0xFE00, 0xFE0F}};
  constexpr Range kWide[] = {{0x1100, 0x115F}, {0x2E80, 0xA4CF},   {0xAC00, 0xD7A3},
                             {0xF900, 0xFAFF}, {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
                             {0xFFE0, 0xFFE6}, {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}};
  if (std::any_of(std::begin(kNone), std::end(kNone), in)) return 0;
  return std::any_of(std::begin(kWide), std::end(kWide), in) ? 2 : 1;
}

size_t Width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const CodePoint point = First(text);
    width += ColumnsOf(point.value);
    text.remove_prefix(point.bytes);
  }
  return width;
}

bool IsBlank(char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7F; }

// The start of `word` that takes at most `columns` columns.
std::string_view Head(std::string_view word, size_t columns) {
  size_t bytes = 0, width = 0;
  while (bytes < word.size()) {
    const CodePoint point = First(word.substr(bytes));
    width += ColumnsOf(point.value);
    if (width > columns) break;
    bytes += point.bytes;
  }
  return word.substr(0, bytes);
}

// Takes the first word off `text`; "" at its end.
std::string_view NextWord(std::string_view& text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  size_t end = 0;
  while (end < text.size() && !IsBlank(text[end])) ++end;
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

}  // namespace

std::string OneLine(std::string_view text, size_t columns) {
  std::string line;
  size_t width = 0;
  size_t fitting = 0;  // bytes of `line` behind which "…" still fits
  for (std::string_view word = NextWord(text); !word.empty(); word = NextWord(text)) {
    const size_t gap = line.empty() ? 0 : 1;
    const size_t word_width = Width(word);
    if (width + gap + word_width > columns) {
      if (line.empty()) return fmt::format("{}…", Head(word, columns - 1));
      line.resize(fitting > 0 ? fitting : line.size());
      return line + "…";
    }
    line.append(gap, ' ').append(word);
    width += gap + word_width;
    if (width < columns) fitting = line.size();
  }
  return line;
}

std::string HitsText(std::span<const ShownHit> hits, size_t columns) {
  size_t score_width = 0, id_width = 0;
  for (const ShownHit& hit : hits) {
    score_width = std::max(score_width, fmt::formatted_size("{:.4f}", hit.score));
    id_width = std::max(id_width, Width(hit.id));
  }
  const size_t rank_width = std::max<size_t>(4, fmt::formatted_size("{}", hits.size()));
  const size_t text_column = rank_width + 2 + score_width + 2 + id_width + 2;
  const bool beside = text_column + kLeastTextColumns <= columns;
  const size_t text_columns =
      beside ? columns - text_column : std::max(kLeastTextColumns, columns - kIndent);
  std::string lines;
  size_t rank = 0;
  for (const ShownHit& hit : hits) {
    lines +=
        fmt::format("{:>{}}  {:>{}.4f}  {}", ++rank, rank_width, hit.score, score_width, hit.id);
    const std::string text = OneLine(hit.text, text_columns);
    if (!text.empty()) {
      if (!beside) lines += '\n';
      lines.append(beside ? id_width - Width(hit.id) + 2 : kIndent, ' ').append(text);
    }
    lines += '\n';
  }
  return lines;
}

size_t OutputColumns() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kUsualColumns;
}

}  // namespace tandem::app
