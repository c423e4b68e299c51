// Fields and numbers of a line in the tabular formats.
#pragma once

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tandem::data {

// The fields of one line, separated by runs of spaces and tabs, one after the other. Finds the
// blanks of 64 bytes at once, since files of runs have a million lines for each thousand queries.
//
// The line must be followed by at least 64 readable bytes, as those of a LineReader are.
class BlankFields {
 public:
  explicit BlankFields(std::string_view line) : end_(line.data() + line.size()) {
    Load(line.data());
  }

  // The next field; empty where there is none.
  std::string_view Next() {
    uint64_t others = ~blanks_ & (kAll << offset_);
    while (others == 0) {
      if (end_ - window_ <= kWindow) return {end_, 0};
      Load(window_ + kWindow);
      others = ~blanks_;
    }
    const int first = std::countr_zero(others);
    const uint64_t blanks = blanks_ & (kAll << first);
    if (blanks == 0) return LongField(window_ + first);
    offset_ = std::countr_zero(blanks);
    return {window_ + first, static_cast<size_t>(offset_ - first)};
  }

 private:
  static constexpr ptrdiff_t kWindow = 64;
  static constexpr uint64_t kAll = ~uint64_t{0};

  static bool IsBlank(char c) { return c == ' ' || c == '\t'; }

  // Says which of 64 bytes are blanks, the first in the lowest bit.
  static uint64_t Blanks(const char* bytes) {
    uint64_t blanks = 0;
#ifdef __SSE2__
    for (int i = 0; i < kWindow; i += 16) {
      const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + i));
      const __m128i found = _mm_or_si128(_mm_cmpeq_epi8(part, _mm_set1_epi8(' ')),
                                         _mm_cmpeq_epi8(part, _mm_set1_epi8('\t')));
      blanks |= uint64_t{static_cast<uint32_t>(_mm_movemask_epi8(found))} << i;
    }
#else
    for (int i = 0; i < kWindow; ++i) blanks |= uint64_t{IsBlank(bytes[i])} << i;
#endif
    return blanks;
  }

  // Looks at 64 bytes; what is after the line counts as blanks.
  void Load(const char* bytes) {
    window_ = bytes;
    offset_ = 0;
    blanks_ = Blanks(bytes);
    if (end_ - bytes < kWindow) blanks_ |= kAll << (end_ - bytes);
  }

  // Reads a field that goes on after the window.
  std::string_view LongField(const char* start) {
    const char* at = window_ + kWindow;
    while (at < end_ && !IsBlank(*at)) ++at;
    Load(at);
    return {start, static_cast<size_t>(at - start)};
  }

  const char* end_;
  const char* window_ = nullptr;
  uint64_t blanks_ = 0;  // of the 64 bytes from window_ on
  int offset_ = 0;       // in the window; below 64
};

// Splits at runs of spaces and tabs into `fields`; returns how many there are, counting those
// beyond `fields.size()`, which are not stored.
size_t SplitAtBlanks(std::string_view line, std::span<std::string_view> fields);

// Splits at every tab and takes the blanks around each field off; counts as SplitAtBlanks does.
size_t SplitAtTabs(std::string_view line, std::span<std::string_view> fields);

// The decimal number that fills the whole field; nothing where there is none or it is not finite.
// Reads what C's strtod reads, except hexadecimal numbers.
std::optional<double> ParseNumber(std::string_view field);

// Parses a number that is followed by at least 16 readable bytes, as those of a LineReader's lines
// are: quicker for a number of up to 15 digits without exponent, which most are.
std::optional<double> ParsePaddedNumber(std::string_view field);

}  // namespace tandem::data
