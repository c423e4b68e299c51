#include "text/pre_tokenizers/white_space.h"

#include <array>
#include <cstdint>

#include "base/utf8.h"
#include "text/unicode/unicode.h"

namespace tandem::text {
namespace {

enum Class : uint8_t { kWhite, kWord, kOther };

Class SpaceClassOf(char32_t code_point) {
  const uint16_t flags = PropertyOf(code_point).flags;
  return (flags & kRegexSpace) != 0 ? kWhite : (flags & kWordCharacter) != 0 ? kWord : kOther;
}

std::array<Class, 128> MakeAsciiClasses() {
  std::array<Class, 128> classes;
  for (char32_t c = 0; c < 128; ++c) classes[c] = SpaceClassOf(c);
  return classes;
}

// Cuts `text` into runs of characters that are alike and adds those that are not white space.
template <typename Alike>
void SplitRuns(std::string_view text, const Alike& alike, Words* words) {
  static const std::array<Class, 128> kAscii = MakeAsciiClasses();
  const char* p = text.data();
  const char* const end = p + text.size();
  const char* run = p;
  Class run_class = kWhite;
  while (p < end) {
    const char* next = p;
    const char32_t c = NextCodePoint(next);
    const Class own = c < 128 ? kAscii[c] : SpaceClassOf(c);
    if (!alike(own, run_class)) {
      if (run_class != kWhite) words->Add(run, p);
      run = p;
      run_class = own;
    }
    p = next;
  }
  if (run_class != kWhite) words->Add(run, end);
}

}  // namespace

void WhitespaceSplit::Split(std::string_view text, bool, Words* words) const {
  SplitRuns(
      text, [](Class a, Class b) { return (a == kWhite) == (b == kWhite); }, words);
}

void Whitespace::Split(std::string_view text, bool, Words* words) const {
  SplitRuns(
      text, [](Class a, Class b) { return a == b; }, words);
}

}  // namespace tandem::text
