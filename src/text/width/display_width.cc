#include "text/width/display_width.h"

#include <algorithm>
#include <span>

#include "base/utf8.h"
#include "text/unicode/graphemes.h"
#include "text/unicode/unicode.h"
#include "text/width/width_table.h"

namespace tandem::text {
namespace {

constexpr std::string_view kEllipsis = "…";  // one column
constexpr char32_t kPicture = 0xFE0F;        // asks for the picture of the character before

bool IsControl(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029;
}

bool IsIn(std::span<const CodePointRange> ranges, char32_t c) {
  const auto behind = std::upper_bound(
      ranges.begin(), ranges.end(), c,
      [](char32_t code_point, const CodePointRange& range) { return code_point < range.first; });
  return behind != ranges.begin() && c <= std::prev(behind)->last;
}

size_t ColumnsOf(char32_t c) {
  if (c < 0x300) return 1;  // Latin: before all ranges
  if (IsIn(CharactersWithoutWidth(), c)) return 0;
  return IsIn(WideCharacters(), c) ? 2 : 1;
}

bool IsRegionalIndicator(char32_t c) { return c >= 0x1F1E6 && c <= 0x1F1FF; }

char32_t First(const char* p) { return NextCodePoint(p); }

// The end of the cluster that starts at `p`, in valid UTF-8. A flag is one cluster here.
const char* NextCluster(const char* p, const char* end) {
  const char* next = text::ClusterEnd(p, end);
  const bool half_flag =
      next < end && IsRegionalIndicator(First(p)) && IsRegionalIndicator(First(next));
  return half_flag ? text::ClusterEnd(next, end) : next;
}

// [p, end) is one cluster.
size_t ClusterWidth(const char* p, const char* end) {
  const bool is_pictograph = text::GraphemeClassOf(First(p)) == text::GraphemeClass::kPictograph;
  size_t width = 0;
  bool is_picture = false;
  while (p < end) {
    const char32_t c = NextCodePoint(p);
    width += ColumnsOf(c);
    is_picture |= c == kPicture;
  }
  if (is_picture) return 2;
  return is_pictograph ? std::min<size_t>(2, width) : width;
}

// Says whether each byte is a printable character of ASCII, which takes one column.
bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

// Bytes of the longest start of valid UTF-8 that takes at most `columns` columns.
size_t FittingBytes(std::string_view valid, size_t columns) {
  const char* const end = valid.data() + valid.size();
  const char* p = valid.data();
  size_t width = 0;
  while (p < end) {
    const char* next = NextCluster(p, end);
    width += ClusterWidth(p, next);
    if (width > columns) break;
    p = next;
  }
  return static_cast<size_t>(p - valid.data());
}

}  // namespace

size_t DisplayWidth(std::string_view text) {
  if (IsPlain(text)) return text.size();
  if (!IsUtf8(text)) return DisplayWidth(RepairUtf8(text));
  const char* const end = text.data() + text.size();
  size_t width = 0;
  for (const char* p = text.data(); p < end;) {
    const char* next = NextCluster(p, end);
    width += ClusterWidth(p, next);
    p = next;
  }
  return width;
}

std::string Printable(std::string_view text) {
  if (IsPlain(text)) return std::string(text);
  const std::string valid = RepairUtf8(text);
  std::string printable;
  printable.reserve(valid.size());
  const char* const end = valid.data() + valid.size();
  for (const char* p = valid.data(); p < end;) {
    const char* const start = p;
    const char32_t c = NextCodePoint(p);
    if (c == '\n' || c == '\t') {
      printable += c == '\n' ? "\\n" : "\\t";
    } else if (IsControl(c)) {
      printable += '?';
    } else {
      printable.append(start, p);
    }
  }
  return printable;
}

std::string_view HeadOfWidth(std::string_view text, size_t columns) {
  return text.substr(0, IsPlain(text) ? columns : FittingBytes(text, columns));
}

std::string CutToWidth(std::string_view text, size_t columns) {
  std::string printable = Printable(text);
  if (FittingBytes(printable, columns) == printable.size()) return printable;
  if (columns == 0) return "";
  printable.resize(FittingBytes(printable, columns - 1));
  return printable.append(kEllipsis);
}

}  // namespace tandem::text
