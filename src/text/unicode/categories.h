// General categories of code points as the regular expressions of the `tokenizers` package know
// them (Unicode 16), which is not what the machine's PCRE2 knows (Debian 12: Unicode 14).
#pragma once

#include <cstdint>
#include <span>

namespace tandem::text {

// The order is that of the script's CATEGORIES (tools/tables/make_category_table.py).
enum class Category : uint8_t {
  // clang-format off
  kLu, kLl, kLt, kLm, kLo, kMn, kMc, kMe, kNd, kNl, kNo, kPc, kPd, kPs, kPe, kPi, kPf, kPo,
  kSm, kSc, kSk, kSo, kZs, kZl, kZp, kCc, kCf, kCo, kCn,
  // clang-format on
};

// The table's entry for one code point.
struct CategoryEntry {
  uint8_t bits;

  Category category() const { return static_cast<Category>(bits & 0x1F); }
  // The bit of the category in a set of categories.
  uint32_t mask() const { return uint32_t{1} << (bits & 0x1F); }
  bool word() const { return (bits & 0x20) != 0; }     // `\w` matches it
  bool numeric() const { return (bits & 0x40) != 0; }  // the pre-tokenizer Digits splits at it
};

// Surrogates, which no text holds, share the entry of U+D7FF. `code_point` must be at most
// kLastCodePoint.
CategoryEntry CategoryOf(char32_t code_point);

// Ascending `first code point << 8 | bits of its entry`; the first run starts at U+0000.
std::span<const uint32_t> CategoryRuns();

}  // namespace tandem::text
