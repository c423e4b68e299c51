#include "text/pre_tokenizers/character_split.h"

#include "base/utf8.h"
#include "text/unicode/categories.h"
#include "text/unicode/unicode.h"

namespace tandem::text {
namespace {

template <typename Matches>
void SplitAt(std::string_view text, SplitBehavior behavior, const Matches& matches, Words* words) {
  SplitWords parts(text, behavior, /*invert=*/false, words);
  const char* p = text.data();
  const char* const end = p + text.size();
  while (p < end) {
    const char* next = p;
    if (matches(NextCodePoint(next))) {
      parts.Match(static_cast<size_t>(p - text.data()), static_cast<size_t>(next - text.data()));
    }
    p = next;
  }
  parts.Finish();
}

}  // namespace

void Digits::Split(std::string_view text, bool, Words* words) const {
  SplitAt(
      text, behavior_, [](char32_t c) { return CategoryOf(c).numeric(); }, words);
}

void Punctuation::Split(std::string_view text, bool, Words* words) const {
  SplitAt(
      text, behavior_, [](char32_t c) { return Has(c, kPunctuation); }, words);
}

}  // namespace tandem::text
