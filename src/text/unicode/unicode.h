// Properties and mappings of a code point, as the `tokenizers` package knows them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "text/unicode/unicode_tables.h"

namespace tandem::text {

inline constexpr char32_t kLastCodePoint = 0x10FFFF;
inline constexpr char32_t kReplacementCharacter = 0xFFFD;

// One value for each code point, in pages of 256 that equal pages share.
template <typename T>
class PagedTable {
 public:
  static constexpr uint32_t kPages = (kLastCodePoint + 1) / 256;

  // `code_point` must be at most kLastCodePoint.
  const T& operator[](char32_t code_point) const {
    return values_[(static_cast<size_t>(pages_[code_point >> 8]) << 8) | (code_point & 0xFF)];
  }

  // Appends a page of 256 values and returns its number.
  template <typename Function>
  uint16_t AddPage(const Function& value_at) {
    for (uint32_t i = 0; i < 256; ++i) values_.push_back(value_at(i));
    return static_cast<uint16_t>(values_.size() / 256 - 1);
  }
  void SetPage(uint32_t page, uint16_t number) { pages_[page] = number; }

 private:
  std::array<uint16_t, kPages> pages_{};
  std::vector<T> values_;
};

// `code_point` must be at most kLastCodePoint.
Property PropertyOf(char32_t code_point);
inline bool Has(char32_t code_point, CharacterFlag flag) {
  return (PropertyOf(code_point).flags & flag) != 0;
}

// The property that all 256 code points of the page share, or -1: its number in Properties().
int UniformProperty(uint32_t page);

// Hangul syllables are made of jamo by arithmetic (The Unicode Standard, section 3.12).
inline constexpr char32_t kFirstHangulSyllable = 0xAC00;
inline constexpr char32_t kHangulSyllables = 11172;
inline constexpr char32_t kFirstLeading = 0x1100;
inline constexpr char32_t kFirstVowel = 0x1161;
inline constexpr char32_t kBeforeTrailing = 0x11A7;  // stands for "no trailing consonant"
inline constexpr char32_t kHangulLeading = 19;       // how many there are of each
inline constexpr char32_t kHangulVowels = 21;
inline constexpr char32_t kHangulTrailing = 28;  // with none
inline bool IsHangulSyllable(char32_t c) {
  return c >= kFirstHangulSyllable && c < kFirstHangulSyllable + kHangulSyllables;
}

GraphemeClass GraphemeClassOf(char32_t code_point);

// A decomposed or lower-cased character. One code point becomes at most this many.
inline constexpr size_t kMaxMapped = 8;
struct MappedCharacter {
  std::array<char32_t, kMaxMapped> code_points;
  size_t size = 0;
};

// Full canonical decomposition; the character itself where there is none.
MappedCharacter Decompose(char32_t code_point);
// Lower case; the character itself where there is none. Neighbours do not matter (no final sigma).
MappedCharacter Lower(char32_t code_point);

}  // namespace tandem::text
