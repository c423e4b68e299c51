#include "text/unicode/byte_level.h"

#include <array>

#include "base/utf8.h"

namespace tandem::text {
namespace {

constexpr bool IsPrintableLatin1(uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
}

constexpr char32_t kFirstOther = 0x100;  // the character of the first byte that is not printable
constexpr size_t kCharacters = kFirstOther + 68;

struct Tables {
  std::array<char32_t, 256> characters{};
  std::array<int16_t, kCharacters> bytes{};
};

constexpr Tables kTables = [] {
  Tables tables;
  tables.bytes.fill(-1);
  char32_t other = kFirstOther;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const char32_t character = IsPrintableLatin1(byte) ? byte : other++;
    tables.characters[byte] = character;
    tables.bytes[character] = static_cast<int16_t>(byte);
  }
  return tables;
}();

}  // namespace

char32_t ByteLevelCharacter(uint8_t byte) { return kTables.characters[byte]; }

bool ReadByteLevel(std::string_view token, std::string* bytes) {
  bytes->clear();
  const char* p = token.data();
  const char* const end = p + token.size();
  while (p < end) {
    const char32_t character = NextCodePoint(p);
    if (character >= kCharacters || kTables.bytes[character] < 0) return false;
    bytes->push_back(static_cast<char>(kTables.bytes[character]));
  }
  return true;
}

void AppendByteLevel(std::string_view bytes, std::string* out) {
  for (const char byte : bytes) {
    AppendUtf8(ByteLevelCharacter(static_cast<uint8_t>(byte)), out);
  }
}

}  // namespace tandem::text
