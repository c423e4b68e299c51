#include "text/base64.h"

#include <array>
#include <cstdint>

namespace tandem::text {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t kNoDigit = 64;

constexpr auto kValues = [] {
  std::array<uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (size_t i = 0; i < kDigits.size(); ++i) {
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<uint8_t>(i);
  }
  return values;
}();

}  // namespace

std::optional<std::string> DecodeBase64(std::string_view encoded) {
  if (encoded.size() % 4 != 0) return {};
  for (int padding = 0; padding < 2 && encoded.ends_with('='); ++padding) encoded.remove_suffix(1);
  std::string bytes;
  bytes.reserve(encoded.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  int count = 0;  // of bits that are not in `bytes` yet
  for (const char digit : encoded) {
    const uint8_t value = kValues[static_cast<unsigned char>(digit)];
    if (value == kNoDigit) return {};
    bits = bits << 6 | value;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<char>(bits >> count & 0xFF));
    bits &= (1U << count) - 1;
  }
  if (bits != 0) return {};
  return bytes;
}

std::string EncodeBase64(std::string_view bytes) {
  std::string encoded;
  encoded.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;  // of three bytes, those behind the end as 0
    for (size_t j = i; j < i + 3; ++j) {
      bits = bits << 8 | (j < bytes.size() ? static_cast<unsigned char>(bytes[j]) : 0U);
    }
    for (int shift = 18; shift >= 0; shift -= 6) encoded += kDigits[bits >> shift & 63];
  }
  const size_t padding = (3 - bytes.size() % 3) % 3;
  encoded.replace(encoded.size() - padding, padding, padding, '=');
  return encoded;
}

}  // namespace tandem::text
