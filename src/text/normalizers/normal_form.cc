#include "text/normalizers/normal_form.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "text/unicode/unicode.h"

namespace tandem::text {
namespace {

using CodePoints = std::vector<char32_t>;

void AppendDecomposed(char32_t c, bool compatible, CodePoints* out) {
  if (compatible && Has(c, kCompatible)) {
    const std::span<const char32_t> parts = CompatibilityTable().Find(c);
    out->insert(out->end(), parts.begin(), parts.end());
  } else if (IsHangulSyllable(c) || Has(c, kDecomposes)) {
    const MappedCharacter parts = Decompose(c);
    out->insert(out->end(), parts.code_points.begin(), parts.code_points.begin() + parts.size);
  } else {
    out->push_back(c);
  }
}

// Sorts each run of characters that are no starters by their combining class.
void Reorder(CodePoints* text) {
  const auto is_starter = [](char32_t c) { return PropertyOf(c).combining == 0; };
  for (auto run = text->begin(); run != text->end();) {
    run = std::find_if_not(run, text->end(), is_starter);
    const auto end = std::find_if(run, text->end(), is_starter);
    std::stable_sort(run, end, [](char32_t a, char32_t b) {
      return PropertyOf(a).combining < PropertyOf(b).combining;
    });
    run = end;
  }
}

struct Composition {
  char32_t first, second, composite;
  std::pair<char32_t, char32_t> key() const { return {first, second}; }
};

// The pairs that compose, ascending. A composite's first is the composite of all but the last
// character of its decomposition.
std::vector<Composition> MakeCompositions() {
  std::vector<std::pair<CodePoints, char32_t>> composites;  // ascending by decomposition
  for (const Mapping& entry : DecompositionTable().entries) {
    if (!Has(entry.code_point, kComposite)) continue;
    const auto parts = DecompositionTable().pool.subspan(entry.offset, entry.length);
    composites.emplace_back(CodePoints(parts.begin(), parts.end()), entry.code_point);
  }
  std::sort(composites.begin(), composites.end());
  std::vector<Composition> compositions;
  for (const auto& [parts, composite] : composites) {
    const CodePoints before(parts.begin(), parts.end() - 1);
    char32_t first = before.front();
    if (before.size() > 1) {
      first = std::lower_bound(composites.begin(), composites.end(), std::pair(before, char32_t{0}))
                  ->second;
    }
    compositions.push_back({first, parts.back(), composite});
  }
  std::sort(compositions.begin(), compositions.end(),
            [](const auto& a, const auto& b) { return a.key() < b.key(); });
  return compositions;
}

std::optional<char32_t> ComposeHangul(char32_t first, char32_t second) {
  const auto in = [](char32_t c, char32_t start, char32_t count) {
    return c >= start && c < start + count;
  };
  if (in(first, kFirstLeading, kHangulLeading) && in(second, kFirstVowel, kHangulVowels)) {
    const char32_t pair = (first - kFirstLeading) * kHangulVowels + (second - kFirstVowel);
    return kFirstHangulSyllable + pair * kHangulTrailing;
  }
  if (GraphemeClassOf(first) == GraphemeClass::kLv &&
      in(second, kBeforeTrailing + 1, kHangulTrailing - 1)) {
    return first + (second - kBeforeTrailing);
  }
  return {};
}

std::optional<char32_t> Compose(char32_t first, char32_t second) {
  static const std::vector<Composition> compositions = MakeCompositions();
  if (!Has(second, kSecond)) return {};
  if (const std::optional<char32_t> syllable = ComposeHangul(first, second)) return syllable;
  const auto found = std::lower_bound(
      compositions.begin(), compositions.end(), std::pair(first, second),
      [](const Composition& composition, const auto& key) { return composition.key() < key; });
  if (found == compositions.end() || found->key() != std::pair(first, second)) return {};
  return found->composite;
}

// The canonical composition algorithm (The Unicode Standard, section 3.11, D117): a character that
// nothing blocks joins the last starter where the two compose.
void ComposeAll(CodePoints* text) {
  size_t size = 0;            // of what is done
  size_t starter = SIZE_MAX;  // where the last starter is
  for (const char32_t c : *text) {
    const uint8_t own = PropertyOf(c).combining;
    if (starter != SIZE_MAX) {
      const uint8_t last = PropertyOf((*text)[size - 1]).combining;
      const bool blocked = starter + 1 < size && (last == 0 || last >= own);
      const std::optional<char32_t> composite =
          blocked ? std::nullopt : Compose((*text)[starter], c);
      if (composite) {
        (*text)[starter] = *composite;
        continue;
      }
    }
    if (own == 0) starter = size;
    (*text)[size++] = c;
  }
  text->resize(size);
}

// The end of a run of ASCII, without a last character that something else follows.
const char* SkipAscii(const char* p, const char* end) {
  const char* q = p;
  while (q < end && static_cast<unsigned char>(*q) < 0x80) ++q;
  return q > p && q < end ? q - 1 : q;
}

}  // namespace

bool NormalForm::Joins(char32_t code_point) const {
  const Property property = PropertyOf(code_point);
  if (property.combining != 0) return true;
  if (options_.compose && (property.flags & kSecond) != 0) return true;
  if ((property.flags & (kDecomposes | kCompatible)) == 0) return false;
  const bool compatible = options_.compatible && (property.flags & kCompatible) != 0;
  const char32_t first = compatible ? CompatibilityTable().Find(code_point).front()
                                    : Decompose(code_point).code_points.front();
  return PropertyOf(first).combining != 0 || (options_.compose && Has(first, kSecond));
}

bool NormalForm::IsUnchanged(char32_t code_point) const {
  const uint16_t flags = PropertyOf(code_point).flags;
  if (options_.compatible && (flags & kCompatible) != 0) return false;
  if (IsHangulSyllable(code_point)) return options_.compose;
  return (flags & kDecomposes) == 0 || (options_.compose && (flags & kComposite) != 0);
}

void NormalForm::Normalize(std::string_view text, std::string* out) const {
  const char* p = text.data();
  const char* const end = p + text.size();
  CodePoints stretch;
  while (p < end) {
    const char* const plain = SkipAscii(p, end);
    out->append(p, plain);
    p = plain;
    if (p == end) break;
    // A character and what may change together with it.
    const char* behind = p;
    const char32_t first = NextCodePoint(behind);
    const char* const one = behind;
    for (const char* next = behind; next < end && Joins(NextCodePoint(next)); behind = next)
      continue;
    if (behind == one && IsUnchanged(first)) {
      out->append(p, behind);
      p = behind;
      continue;
    }
    stretch.clear();
    while (p < behind) AppendDecomposed(NextCodePoint(p), options_.compatible, &stretch);
    Reorder(&stretch);
    if (options_.compose) ComposeAll(&stretch);
    for (const char32_t c : stretch) AppendUtf8(c, out);
  }
}

}  // namespace tandem::text
