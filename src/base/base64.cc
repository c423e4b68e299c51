#include "base/base64.h"

#include <array>
#include <cstdint>

namespace tandem {
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

// Two characters for each twelve bits: half as many look-ups as of one.
constexpr auto kPairs = [] {
  std::array<std::array<char, 2>, 4096> pairs{};
  for (size_t i = 0; i < pairs.size(); ++i) pairs[i] = {kDigits[i / 64], kDigits[i % 64]};
  return pairs;
}();

// The four characters of three bytes.
char* WriteGroup(uint32_t first, uint32_t second, uint32_t third, char* to) {
  const uint32_t group = first << 16 | second << 8 | third;
  for (const auto& pair : {kPairs[group >> 12], kPairs[group & 4095]}) {
    *to++ = pair[0];
    *to++ = pair[1];
  }
  return to;
}

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

void AppendBase64(std::string_view bytes, std::string* out) {
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  const size_t begin = out->size();
  out->resize(begin + (bytes.size() + 2) / 3 * 4);
  char* to = out->data() + begin;
  size_t left = bytes.size();
  for (; left >= 3; left -= 3, at += 3) to = WriteGroup(at[0], at[1], at[2], to);
  if (left == 0) return;
  WriteGroup(at[0], left == 2 ? at[1] : 0, 0, to);
  for (size_t i = left + 1; i < 4; ++i) to[i] = '=';
}

std::string EncodeBase64(std::string_view bytes) {
  std::string encoded;
  AppendBase64(bytes, &encoded);
  return encoded;
}

}  // namespace tandem
