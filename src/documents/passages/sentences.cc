#include "documents/passages/sentences.h"

#include <algorithm>
#include <iterator>

#include "base/utf8.h"
#include "text/unicode/categories.h"

namespace tandem::documents {
namespace {

using text::Category;

constexpr std::string_view kAbbreviations[] = {
    "al",   "approx", "ca",   "cf",   "co",  "dr", "e.g", "eq",  "etc", "fig",
    "figs", "i.e",    "inc",  "jr",   "ltd", "mr", "mrs", "ms",  "no",  "nr",
    "p",    "pp",     "prof", "resp", "sec", "sr", "st",  "vol", "vs"};

bool EndsWithoutSpace(char32_t c) { return c == U'。' || c == U'！' || c == U'？' || c == U'｡'; }

bool IsStop(char32_t c) {
  constexpr char32_t kStops[] = {U'.', U'!', U'?', U'…', U'‼', U'⁇', U'⁈',
                                 U'⁉', U'։', U'؟', U'۔', U'।', U'॥', U'።'};
  return EndsWithoutSpace(c) ||
         std::find(std::begin(kStops), std::end(kStops), c) != std::end(kStops);
}

// Quotes and brackets that may stand between a full stop and the end of its sentence.
bool IsClosing(char32_t c) {
  const Category category = text::CategoryOf(c).category();
  return c == '"' || c == '\'' || category == Category::kPe || category == Category::kPf ||
         category == Category::kPi;
}

// Letters and digits that may begin a sentence.
constexpr Category kBeginnings[] = {Category::kLu, Category::kLt, Category::kLo, Category::kLm,
                                    Category::kNd};

// Whether the first letter from `p` on, before a line's or sentence's end, is a lower-case one.
bool GoesOnInLowerCase(const char* p, const char* end) {
  while (p < end) {
    const char32_t c = NextCodePoint(p);
    const Category category = text::CategoryOf(c).category();
    if (category == Category::kLl) return true;
    if (std::find(std::begin(kBeginnings), std::end(kBeginnings), category) !=
            std::end(kBeginnings) ||
        IsStop(c)) {
      return false;
    }
  }
  return false;
}

// Whether the full stop after `before`, the text of its line so far, is one of an abbreviation, an
// initial or a number before an item.
bool IsAbbreviation(std::string_view before) {
  const size_t begin = before.find_last_of(" \t\n\r(\"'") + 1;  // npos + 1: 0
  std::string_view word = before.substr(begin);
  const bool digits = !word.empty() && std::all_of(word.begin(), word.end(),
                                                   [](char c) { return c >= '0' && c <= '9'; });
  const Span line = Trimmed(before, {before.rfind('\n') + 1, before.size()});
  if (digits && line.size() == word.size()) return true;
  std::string lower;
  std::transform(word.begin(), word.end(), std::back_inserter(lower), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  });
  if (lower.size() == 1 && lower[0] >= 'a' && lower[0] <= 'z') return word[0] != 'I';
  return std::find(std::begin(kAbbreviations), std::end(kAbbreviations), lower) !=
         std::end(kAbbreviations);
}

// Finds the end of the sentence that begins at `begin`.
class SentenceEnd {
 public:
  SentenceEnd(std::string_view text, Span within) : text_(text), within_(within) {}

  size_t From(size_t begin) const {
    const char* const end = text_.data() + within_.end;
    for (const char* p = text_.data() + begin; p < end;) {
      const char* const at = p;
      const char32_t c = NextCodePoint(p);
      if (c == '\n' && IsBlankLine(p, end)) return Offset(at);
      if (!IsStop(c)) continue;
      const char* const after = AfterStops(p, end);
      const bool space = after == end || IsWhiteSpace(*after);
      const bool no_space_needed = EndsWithoutSpace(c);
      if (!space && !no_space_needed) {
        p = after;
        continue;
      }
      if (c == '.' && IsAbbreviation(text_.substr(begin, Offset(at) - begin))) continue;
      const bool alone = at > text_.data() + begin && IsWhiteSpace(at[-1]);
      if (!no_space_needed && !alone && GoesOnInLowerCase(after, end)) continue;
      return Offset(after);
    }
    return within_.end;
  }

 private:
  size_t Offset(const char* p) const { return static_cast<size_t>(p - text_.data()); }

  static bool IsBlankLine(const char* p, const char* end) {
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r')) ++p;
    return p < end && *p == '\n';
  }

  // The end of the further stops, quotes and brackets from `p` on.
  static const char* AfterStops(const char* p, const char* end) {
    while (p < end) {
      const char* next = p;
      const char32_t c = NextCodePoint(next);
      if (!IsStop(c) && !IsClosing(c)) break;
      p = next;
    }
    return p;
  }

  std::string_view text_;
  Span within_;
};

}  // namespace

std::vector<Span> SentencesOf(std::string_view text, Span within) {
  std::vector<Span> sentences;
  const SentenceEnd end(text, within);
  within = Trimmed(text, within);
  while (!within.empty()) {
    const size_t stop = end.From(within.begin);
    const Span sentence = Trimmed(text, {within.begin, std::min(stop, within.end)});
    if (!sentence.empty()) sentences.push_back(sentence);
    within = Trimmed(text, {std::max(stop, within.begin), within.end});
  }
  return sentences;
}

std::vector<Span> SentencesOf(const Document& document) {
  std::vector<Span> sentences;
  for (const Block& block : document.blocks) {
    const bool whole = block.kind == BlockKind::kHeading || block.kind == BlockKind::kTableRow ||
                       block.kind == BlockKind::kTerm;
    if (whole) {
      sentences.push_back(block.span);
      continue;
    }
    const std::vector<Span> of_block = SentencesOf(document.text, block.span);
    sentences.insert(sentences.end(), of_block.begin(), of_block.end());
  }
  return sentences;
}

}  // namespace tandem::documents
