#include "serve/bodies/json_writer.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>

#include "base/base64.h"
#include "base/utf8.h"

namespace tandem::serve {
namespace {

static_assert(std::endian::native == std::endian::little, "floats are sent as they lie in memory");

constexpr size_t kFloatBytes = 16;   // "-1.17549435e-38" has 15
constexpr size_t kDoubleBytes = 32;  // "-2.2250738585072014e-308" has 24
constexpr std::string_view kHex = "0123456789abcdef";

char* WriteFloat(char* to, float number) {
  if (!std::isfinite(number)) {
    for (const char c : std::string_view("null")) *to++ = c;
    return to;
  }
  return std::to_chars(to, to + kFloatBytes, number).ptr;
}

void AppendEscaped(std::string* out, std::string_view text) {
  size_t plain = 0;  // from here on nothing has been appended
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out->append(text.substr(plain, i - plain));
    plain = i + 1;
    if (c == '"' || c == '\\') {
      *out += {'\\', static_cast<char>(c)};
    } else if (c == '\n') {
      *out += "\\n";
    } else {
      *out += {'\\', 'u', '0', '0', kHex[c >> 4], kHex[c & 15]};
    }
  }
  out->append(text.substr(plain));
}

}  // namespace

void AppendJsonText(std::string* out, std::string_view text) {
  *out += '"';
  if (IsUtf8(text)) {
    AppendEscaped(out, text);
  } else {
    AppendEscaped(out, RepairUtf8(text));
  }
  *out += '"';
}

void AppendJsonFloat(std::string* out, float number) {
  std::array<char, kFloatBytes> digits;
  out->append(digits.data(), WriteFloat(digits.data(), number));
}

void AppendJsonNumber(std::string* out, double number) {
  if (!std::isfinite(number)) {
    *out += "null";
    return;
  }
  std::array<char, kDoubleBytes> digits;
  out->append(digits.data(),
              std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

void AppendJsonInteger(std::string* out, uint64_t number) {
  std::array<char, kDoubleBytes> digits;
  out->append(digits.data(),
              std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

void AppendJsonFloats(std::string* out, std::span<const float> numbers) {
  const size_t begin = out->size();
  out->resize(begin + 2 + numbers.size() * (kFloatBytes + 1));
  char* const start = out->data();
  char* to = start + begin;
  *to++ = '[';
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) *to++ = ',';
    to = WriteFloat(to, numbers[i]);
  }
  *to++ = ']';
  out->resize(static_cast<size_t>(to - start));
}

void AppendBase64Floats(std::string* out, std::span<const float> numbers) {
  *out += '"';
  AppendBase64({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()}, out);
  *out += '"';
}

}  // namespace tandem::serve
