#include "text/normalizers/strip.h"

#include "base/utf8.h"
#include "text/unicode/unicode.h"

namespace tandem::text {
namespace {

bool IsWhite(char32_t c) { return Has(c, kRegexSpace); }

enum class Fate { kStays, kVanishes, kBecomesSpace };

// Appends `text`, each character as `fate_of(code_point)` says.
template <typename FateOf>
void AppendByFate(std::string_view text, const FateOf& fate_of, std::string* out) {
  const char* p = text.data();
  const char* const end = p + text.size();
  const char* done = p;  // the text before it is in `out` or was removed
  while (p < end) {
    const char* const begin = p;
    const Fate fate = fate_of(NextCodePoint(p));
    if (fate == Fate::kStays) continue;
    out->append(done, begin);
    if (fate == Fate::kBecomesSpace) out->push_back(' ');
    done = p;
  }
  out->append(done, end);
}

bool IsNmtControl(char32_t c) {
  return (c >= 0x1 && c <= 0x8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F ||
         c == 0x9F;
}

bool IsNmtSpace(char32_t c) {
  return c == 0x9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 ||
         (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF ||
         c == kReplacementCharacter;
}

}  // namespace

void Strip::Normalize(std::string_view text, std::string* out) const {
  const char* p = text.data();
  const char* end = p + text.size();
  for (const char* next = p; options_.strip_left && p < end && IsWhite(NextCodePoint(next));) {
    p = next;
  }
  while (options_.strip_right && p < end && IsWhite(CodePointBefore(end))) {
    do --end;
    while ((static_cast<unsigned char>(*end) & 0xC0) == 0x80);
  }
  out->append(p, end);
}

void StripAccents::Normalize(std::string_view text, std::string* out) const {
  const auto fate_of = [](char32_t c) {
    return c >= 0x80 && Has(c, kCombiningMark) ? Fate::kVanishes : Fate::kStays;
  };
  AppendByFate(text, fate_of, out);
}

void Nmt::Normalize(std::string_view text, std::string* out) const {
  const auto fate_of = [](char32_t c) {
    return IsNmtControl(c) ? Fate::kVanishes : IsNmtSpace(c) ? Fate::kBecomesSpace : Fate::kStays;
  };
  AppendByFate(text, fate_of, out);
}

}  // namespace tandem::text
