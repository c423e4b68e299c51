#include "base/utf8.h"

#include <simdjson.h>

namespace tandem {
namespace {

struct Lead {
  int length;  // 0: no character starts with this byte
  unsigned char second_low, second_high;
};

// Table 3-7 of The Unicode Standard, "Well-formed UTF-8 byte sequences".
Lead LeadOf(unsigned char byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2) return {0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

}  // namespace

int CharacterLength(std::string_view bytes) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const Lead lead = LeadOf(at(0));
  if (lead.length == 0) return -1;
  for (int i = 1; i < lead.length; ++i) {
    const auto position = static_cast<size_t>(i);
    const unsigned char low = i == 1 ? lead.second_low : 0x80;
    const unsigned char high = i == 1 ? lead.second_high : 0xBF;
    if (position >= bytes.size() || at(position) < low || at(position) > high) return -i;
  }
  return lead.length;
}

bool IsUtf8(std::string_view bytes) {
  return bytes.empty() || simdjson::validate_utf8(bytes.data(), bytes.size());
}

std::string RepairUtf8(std::string_view bytes) {
  std::string repaired;
  repaired.reserve(bytes.size() + 16);
  while (!bytes.empty()) {
    const int length = CharacterLength(bytes);
    const auto taken = static_cast<size_t>(length < 0 ? -length : length);
    if (length > 0) {
      repaired.append(bytes.substr(0, taken));
    } else {
      AppendUtf8(0xFFFD, &repaired);
    }
    bytes.remove_prefix(taken);
  }
  return repaired;
}

void AppendUtf8(char32_t code_point, std::string* out) {
  const auto put = [&](char32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | code_point >> 18);
    put(0x80 | (code_point >> 12 & 0x3F));
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

}  // namespace tandem
