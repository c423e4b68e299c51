// The widths of characters that tools/tables/make_width_table.py generates.
#pragma once

#include <span>

namespace tandem::text {

struct CodePointRange {
  char32_t first, last;  // both are in it
};

// Ascending, without overlaps, from U+0080. Every other character takes one column.
std::span<const CodePointRange> CharactersWithoutWidth();  // 0 columns
std::span<const CodePointRange> WideCharacters();          // 2 columns

}  // namespace tandem::text
