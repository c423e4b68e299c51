#include "index/query/passages.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "base/utf8.h"
#include "text/unicode/graphemes.h"
#include "text/unicode/unicode.h"

namespace tandem::index {
namespace {

constexpr char32_t kFullStop = '.';
constexpr char32_t kFirstArmenian = 0x530;  // scripts with two cases come before it, but for a few

// Abbreviations without their last full stop, in lower case: of English, German and French, and of
// references.
constexpr std::array<std::string_view, 52> kAbbreviations = {
    "mr",   "mrs",  "ms",  "dr",   "prof", "st",   "sr",   "jr",   "vs",  "cf",  "al",
    "fig",  "figs", "eq",  "eqs",  "sec",  "no",   "nos",  "vol",  "pp",  "ca",  "approx",
    "dept", "gen",  "col", "lt",   "sgt",  "capt", "rev",  "hon",  "gov", "sen", "rep",
    "mt",   "nr",   "bzw", "vgl",  "ggf",  "evtl", "inkl", "bspw", "abb", "tab", "bd",
    "hr",   "fr",   "mme", "mlle", "env",  "resp", "ref",  "refs"};

bool IsOneOf(char32_t c, std::u32string_view characters) {
  return characters.find(c) != std::u32string_view::npos;
}

// Ends a sentence where a blank or nothing follows.
bool IsStop(char32_t c) { return IsOneOf(c, U".!?…‼⁇⁈⁉؟۔।॥։።။។༎"); }
// Ends a sentence whatever follows: these scripts put no blanks between sentences.
bool IsWideStop(char32_t c) { return IsOneOf(c, U"。｡！？．"); }
// Returns true for what may follow a stop and belongs to its sentence.
bool IsCloser(char32_t c) { return IsOneOf(c, U")]}\"'”’“»›」』）］】》〉"); }
bool IsOpener(char32_t c) { return IsOneOf(c, U"([{\"'“‘„«‹"); }
bool IsComma(char32_t c) { return IsOneOf(c, U",;:،؛"); }
bool IsWideComma(char32_t c) { return IsOneOf(c, U"，；：、"); }  // no blank follows
bool IsLineEnd(char32_t c) { return IsOneOf(c, U"\n\r\v\f\u2028\u2029\u0085"); }
bool IsBlank(char32_t c) { return c <= 0x20 || c == 0xFEFF || text::Has(c, text::kSpace); }
bool IsDigit(char32_t c) { return c >= '0' && c <= '9'; }
bool IsLowerCase(char32_t c) {
  return c < kFirstArmenian && !IsDigit(c) && c != '_' && text::Has(c, text::kWordCharacter) &&
         !text::Has(c, text::kLowers);
}

struct Character {
  char32_t code_point = 0;  // U+FFFD for what is no UTF-8
  size_t bytes = 0;
};

Character CharacterAt(std::string_view text, size_t at) {
  const int length = CharacterLength(text.substr(at));
  if (length < 0) return {text::kReplacementCharacter, static_cast<size_t>(-length)};
  const char* p = text.data() + at;
  return {NextCodePoint(p), static_cast<size_t>(length)};
}

// Finds the first character from `at` on that does not meet `condition`.
template <typename Condition>
size_t Skip(std::string_view text, size_t at, const Condition& condition) {
  while (at < text.size()) {
    const Character c = CharacterAt(text, at);
    if (!condition(c.code_point)) break;
    at += c.bytes;
  }
  return at;
}

struct Piece {
  Passage bytes;
  bool starts_paragraph = false;
  size_t size() const { return bytes.end - bytes.begin; }
};

// "e.g", "U.S", "Ph.D": parts of one or two letters each.
bool HasInnerStops(std::string_view word) {
  if (word.find('.') == std::string_view::npos) return false;
  size_t length = 0;  // of the part
  for (const char c : word) {
    length = c == '.' ? 0 : length + 1;
    if (length > 2 || IsDigit(static_cast<unsigned char>(c))) return false;
  }
  return true;
}

bool IsAbbreviation(std::string_view word) {
  if (HasInnerStops(word)) return true;
  std::string lower(word);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return std::find(kAbbreviations.begin(), kAbbreviations.end(), lower) != kAbbreviations.end();
}

// --- Sentences -----------------------------------------------------------------------------------

class SentenceScanner {
 public:
  explicit SentenceScanner(std::string_view text) : text_(text) {}

  std::vector<Piece> Scan() {
    Start(0);
    while (at_ < text_.size()) {
      const Character c = CharacterAt(text_, at_);
      if (IsBlank(c.code_point)) {
        AtBlanks();
      } else if (IsStop(c.code_point) || IsWideStop(c.code_point)) {
        AtStop(c);
      } else {
        at_ += c.bytes;
        // A word begins after its opening brackets and quotes.
        if (IsOpener(c.code_point) && word_ + c.bytes == at_) word_ = at_;
        end_ = at_;
      }
    }
    Close();
    return std::move(sentences_);
  }

 private:
  // A sentence begins at the first character from `at` on that is not blank.
  void Start(size_t at) { begin_ = word_ = at_ = end_ = Skip(text_, at, IsBlank); }

  void Close() {
    if (end_ > begin_) sentences_.push_back({{begin_, end_}, starts_paragraph_});
    starts_paragraph_ = false;
  }

  // Blanks end a sentence where a line ends among them, unless the next one goes on in lower case.
  void AtBlanks() {
    size_t lines = 0;
    bool was_return = false;  // "\r\n" is one end
    const size_t next = Skip(text_, at_, [&](char32_t c) {
      if (!IsBlank(c)) return false;
      if (IsLineEnd(c) && !(c == '\n' && was_return)) ++lines;
      was_return = c == '\r';
      return true;
    });
    if (lines > 1 || (lines == 1 && !GoesOn(next))) {
      Close();
      starts_paragraph_ = lines > 1;
      return Start(next);
    }
    at_ = word_ = next;
  }

  void AtStop(Character stop) {
    const std::string_view word = text_.substr(word_, at_ - word_);
    const size_t stops = at_;
    at_ = Skip(text_, at_, [](char32_t c) { return IsStop(c) || IsWideStop(c); });
    const bool is_single = at_ == stops + stop.bytes;
    const size_t behind = Skip(text_, at_, IsCloser);
    const bool is_wide = IsWideStop(stop.code_point);
    end_ = at_ = is_wide || IsBlankOrEnd(behind) ? behind : at_;
    if (!is_wide) {
      if (!IsBlankOrEnd(at_) || GoesOn(at_)) return;
      if (stop.code_point == kFullStop && is_single && behind == stops + stop.bytes &&
          EndsNone(word)) {
        return;
      }
    }
    Close();
    Continue();
  }

  // Goes on after a sentence: blanks that follow decide whether a paragraph ends there.
  void Continue() {
    begin_ = end_ = word_ = at_;
    if (at_ < text_.size() && IsBlank(CharacterAt(text_, at_).code_point)) AtBlanks();
    if (end_ == begin_) Start(at_);
  }

  bool IsBlankOrEnd(size_t at) const {
    return at == text_.size() || IsBlank(CharacterAt(text_, at).code_point);
  }

  // Says whether a lower-case letter is the next that is not blank, in the same paragraph.
  bool GoesOn(size_t at) const {
    const size_t next = Skip(text_, at, IsBlank);
    return next < text_.size() && IsLowerCase(CharacterAt(text_, next).code_point);
  }

  // Returns true where a full stop after this word ends no sentence.
  bool EndsNone(std::string_view word) const {
    if (word.empty()) return true;
    const Character first = CharacterAt(word, 0);
    const bool is_letter = first.bytes == word.size() && !IsDigit(first.code_point);
    if (is_letter || IsAbbreviation(word)) return true;
    // "1. Fill the pot."
    const bool is_number = word.size() <= 3 && std::all_of(word.begin(), word.end(), [](char c) {
                             return IsDigit(static_cast<unsigned char>(c));
                           });
    return is_number && word_ == begin_;
  }

  std::string_view text_;
  std::vector<Piece> sentences_;
  bool starts_paragraph_ = false;
  size_t begin_ = 0;  // of the sentence
  size_t word_ = 0;   // where its last word begins
  size_t end_ = 0;    // after its last character that is not blank
  size_t at_ = 0;
};

// --- Long sentences ------------------------------------------------------------------------------

// The end of the last whole cluster of [begin, end) that ends before `end`; `begin` where there is
// none. Clusters are looked for in these bytes alone, however long they are.
size_t LastCluster(std::string_view text, size_t begin, size_t end) {
  const char* const stop = text.data() + end;
  const char* p = text.data() + begin;
  for (const char* next = text::ClusterEnd(p, stop); next < stop;) {
    p = next;
    next = text::ClusterEnd(p, stop);
  }
  return static_cast<size_t>(p - text.data());
}

// The end of the first part of `sentence`, which is longer than `target`: at most so many bytes
// unless its first character has more.
size_t CutOf(std::string_view text, Passage sentence, size_t target, bool is_valid) {
  const size_t limit = sentence.begin + target;
  size_t comma = 0, blank = 0, characters = 0;  // where each of these would cut
  char32_t before = ' ';
  size_t at = sentence.begin;  // in the end after the first character that does not fit
  while (at <= limit && at < sentence.end) {
    const Character c = CharacterAt(text, at);
    const bool starts_blanks = IsBlank(c.code_point) && !IsBlank(before);
    if (starts_blanks) blank = at;
    if (IsWideComma(before) || (starts_blanks && IsComma(before))) comma = at;
    characters = at;
    at += c.bytes;
    before = c.code_point;
  }
  if (comma > sentence.begin + target / 2) return comma;
  if (blank > sentence.begin) return blank;
  const size_t cluster = is_valid ? LastCluster(text, sentence.begin, at) : sentence.begin;
  if (cluster > sentence.begin) return cluster;
  return characters > sentence.begin ? characters : at;
}

std::vector<Piece> CutLong(std::string_view text, std::vector<Piece> sentences, size_t target) {
  std::vector<Piece> pieces;
  const bool is_valid = IsUtf8(text);
  for (Piece sentence : sentences) {
    if (sentence.size() > 2 * target) {
      while (sentence.size() > target) {
        const size_t cut = CutOf(text, sentence.bytes, target, is_valid);
        pieces.push_back({{sentence.bytes.begin, cut}, sentence.starts_paragraph});
        // After a sentence of one character that is cut off whole, there may be blanks.
        const size_t end = sentence.bytes.end;
        sentence = {{std::min(end, Skip(text, cut, IsBlank)), end}, false};
      }
    }
    if (sentence.size() > 0) pieces.push_back(sentence);
  }
  return pieces;
}

// --- Passages ------------------------------------------------------------------------------------

std::vector<Piece> Join(std::span<const Piece> pieces, size_t target) {
  std::vector<Piece> joined;
  for (const Piece& piece : pieces) {
    const bool starts = joined.empty() || piece.bytes.end - joined.back().bytes.begin > target ||
                        (piece.starts_paragraph && joined.back().size() >= target / 2);
    if (starts) {
      joined.push_back(piece);
    } else {
      joined.back().bytes.end = piece.bytes.end;
    }
  }
  return joined;
}

// A quarter of a passage says little alone.
std::vector<Passage> WithoutRemainders(std::span<const Piece> joined, size_t target) {
  std::vector<Passage> passages;
  for (const Piece& piece : joined) {
    const bool is_remainder = !passages.empty() && !piece.starts_paragraph &&
                              piece.size() < target / 4 &&
                              piece.bytes.end - passages.back().begin <= target + target / 4;
    if (is_remainder) {
      passages.back().end = piece.bytes.end;
    } else {
      passages.push_back(piece.bytes);
    }
  }
  return passages;
}

}  // namespace

std::vector<Passage> SplitPassages(std::string_view text, size_t target_bytes) {
  const size_t target = std::max<size_t>(1, target_bytes);
  const std::vector<Piece> pieces = CutLong(text, SentenceScanner(text).Scan(), target);
  return WithoutRemainders(Join(pieces, target), target);
}

}  // namespace tandem::index
