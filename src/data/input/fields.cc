#include "data/input/fields.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

namespace tandem::data {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

std::string_view Trim(std::string_view field) {
  while (!field.empty() && IsBlank(field.front())) field.remove_prefix(1);
  while (!field.empty() && IsBlank(field.back())) field.remove_suffix(1);
  return field;
}

__extension__ using Word16 = unsigned __int128;
constexpr uint64_t kOnes = 0x0101010101010101;

// Eight bytes as one word, the first of them the lowest: whether all are digits.
bool AllDigits(uint64_t word) {
  const uint64_t values = word ^ (kOnes * '0');
  // A value above 9 reaches the highest bit of its byte by adding 0x76.
  return ((values | (values + kOnes * 0x76)) & (kOnes * 0x80)) == 0;
}

// The number that eight digits make, the first of them the highest: joins neighbours to pairs,
// pairs to fours, fours to eight.
uint64_t ValueOf(uint64_t digits) {
  digits -= kOnes * '0';
  digits = digits * 10 + (digits >> 8);  // in every second byte, values up to 99
  constexpr uint64_t kMask = 0x000000FF000000FF;
  return ((digits & kMask) * (100 + (uint64_t{1000000} << 32)) +
          ((digits >> 16) & kMask) * (1 + (uint64_t{10000} << 32))) >>
         32;
}

// Finds the first point among 16 bytes; 16 where there is none.
size_t FindPoint(Word16 bytes) {
  for (const size_t half : {0, 1}) {
    const uint64_t word = static_cast<uint64_t>(bytes >> (64 * half)) ^ (kOnes * '.');
    const uint64_t zeros = (word - kOnes) & ~word & (kOnes * 0x80);
    if (zeros != 0) return 8 * half + static_cast<size_t>(std::countr_zero(zeros)) / 8;
  }
  return 16;
}

Word16 LowBytes(size_t count) { return (Word16{1} << (8 * count)) - 1; }

constexpr size_t kExactDigits = 15;
constexpr double kPowers[kExactDigits + 1] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                              1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

// The number that most files hold: up to 15 digits with a point, or none, and no exponent. The
// digits and the power of ten are then exact, so that their quotient is the nearest double. False
// for all other fields, which may be numbers too. 16 bytes after the field must be readable.
bool ParsePlain(std::string_view field, double* value) {
  const bool negative = field.starts_with('-');
  if (negative) field.remove_prefix(1);
  const size_t size = field.size();
  if (size == 0 || size > kExactDigits) return false;
  Word16 bytes;
  std::memcpy(&bytes, field.data(), sizeof bytes);
  const size_t point = std::min(FindPoint(bytes), size);
  const size_t behind = point < size ? size - point - 1 : 0;
  const size_t count = point + behind;
  if (count == 0) return false;
  // The digits without the point are moved to the end, after zeros.
  bytes = (bytes & LowBytes(point)) | ((bytes >> 8) & ~LowBytes(point));
  const Word16 zeros = ((Word16{kOnes} << 64) | kOnes) * '0';
  bytes = (bytes << (8 * (16 - count))) | (zeros & LowBytes(16 - count));
  const auto high = static_cast<uint64_t>(bytes), low = static_cast<uint64_t>(bytes >> 64);
  if (!AllDigits(high) || !AllDigits(low)) return false;
  const uint64_t digits = ValueOf(high) * 100'000'000 + ValueOf(low);
  const double absolute = static_cast<double>(digits) / kPowers[behind];
  *value = negative ? -absolute : absolute;
  return true;
}

}  // namespace

size_t SplitAtBlanks(std::string_view line, std::span<std::string_view> fields) {
  size_t count = 0;
  const char* at = line.data();
  const char* const end = at + line.size();
  while (true) {
    while (at != end && IsBlank(*at)) ++at;
    if (at == end) return count;
    const char* const start = at;
    while (at != end && !IsBlank(*at)) ++at;
    if (count < fields.size()) {
      fields[count] = std::string_view(start, static_cast<size_t>(at - start));
    }
    ++count;
  }
}

size_t SplitAtTabs(std::string_view line, std::span<std::string_view> fields) {
  size_t count = 0;
  while (true) {
    const size_t tab = line.find('\t');
    if (count < fields.size()) fields[count] = Trim(line.substr(0, tab));
    ++count;
    if (tab == std::string_view::npos) return count;
    line.remove_prefix(tab + 1);
  }
}

std::optional<double> ParsePaddedNumber(std::string_view field) {
  double value = 0;
  if (ParsePlain(field, &value)) return value;
  return ParseNumber(field);
}

std::optional<double> ParseNumber(std::string_view field) {
  if (field.size() > 1 && field[0] == '+' && field[1] != '-') field.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (end != field.data() + field.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    value = std::strtod(std::string(field).c_str(),
                        nullptr);  // 0 where too small, infinite where too large
  } else if (error != std::errc()) {
    return std::nullopt;
  }
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace tandem::data
