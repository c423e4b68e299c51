#include "text/normalizers/byte_level_normalizer.h"

#include <array>

#include "base/utf8.h"

namespace tandem::text {
namespace {

std::array<std::string, 256> MakeCharacters() {
  std::array<std::string, 256> characters;
  char32_t next = 0x100;
  for (char32_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
    AppendUtf8(printable ? byte : next++, &characters[byte]);
  }
  return characters;
}

}  // namespace

void ByteLevelNormalizer::Normalize(std::string_view text, std::string* out) const {
  static const std::array<std::string, 256> characters = MakeCharacters();
  for (const char byte : text) *out += characters[static_cast<unsigned char>(byte)];
}

}  // namespace tandem::text
