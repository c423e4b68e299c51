#include "text/unicode/categories.h"

#include "text/unicode/unicode.h"

namespace tandem::text {
namespace {

PagedTable<uint8_t> MakeTable() {
  PagedTable<uint8_t> table;
  const std::span<const uint32_t> runs = CategoryRuns();
  std::array<int, 256> uniform;  // the page in which all have the same bits, or -1
  uniform.fill(-1);
  size_t run = 0;
  const auto end_of = [&](size_t r) {
    return r + 1 < runs.size() ? runs[r + 1] >> 8 : kLastCodePoint + 1;
  };
  for (uint32_t page = 0; page < PagedTable<uint8_t>::kPages; ++page) {
    const uint32_t first = page << 8;
    while (end_of(run) <= first) ++run;
    const auto bits = static_cast<uint8_t>(runs[run] & 0xFF);
    const bool same = end_of(run) >= first + 256;
    int number = same ? uniform[bits] : -1;
    size_t at = run;
    if (number < 0) {
      number = table.AddPage([&](uint32_t i) {
        while (end_of(at) <= first + i) ++at;
        return static_cast<uint8_t>(runs[at] & 0xFF);
      });
    }
    if (same) uniform[bits] = number;
    table.SetPage(page, static_cast<uint16_t>(number));
  }
  return table;
}

}  // namespace

CategoryEntry CategoryOf(char32_t code_point) {
  static const PagedTable<uint8_t> table = MakeTable();
  return {table[code_point]};
}

}  // namespace tandem::text
