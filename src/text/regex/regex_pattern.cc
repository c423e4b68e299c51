#include "text/regex/regex_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "text/regex/pattern_class.h"
#include "text/regex/pattern_cursor.h"
#include "text/regex/regex_class.h"

namespace tandem::text {
namespace {

constexpr int kMaxGroupDepth = 100;  // of groups within groups
constexpr int kMaxRepeat = 65535;    // of {n,m}, as in PCRE2

// Two letters that Oniguruma, ignoring case, also takes for one: "ss" for U+00DF.
constexpr std::string_view kFoldedPairs[] = {"ss", "ff", "fi", "fl", "st"};

// Groups that both engines write and understand alike.
constexpr std::string_view kGroups[] = {"?:", "?=", "?!", "?<=", "?<!", "?>"};

class Translator {
 public:
  explicit Translator(std::string_view pattern) : in_(pattern) {}

  std::string Translate() {
    ReadAlternatives(false, 0);
    if (!in_.AtEnd()) throw PatternError("a \")\" closes no group");
    return std::move(out_);
  }

 private:
  void ReadAlternatives(bool caseless, int depth) {
    if (depth > kMaxGroupDepth) {
      throw PatternError(fmt::format("groups are nested more than {} deep", kMaxGroupDepth));
    }
    last_letter_ = 0;
    while (!in_.AtEnd() && in_.Peek() != U')') {
      if (in_.Take("|")) {
        out_ += '|';
        last_letter_ = 0;
        continue;
      }
      if (ReadAnchor()) continue;
      ReadAtom(caseless, depth);
      ReadQuantifier();
    }
  }

  // Reads what matches no characters. A quantifier after it reaches ReadAtom, which refuses it.
  bool ReadAnchor() {
    static constexpr std::pair<std::string_view, std::string_view> kAnchors[] = {
        {"^", "^"}, {"$", "$"}, {"\\A", "\\A"}, {"\\z", "\\z"}, {"\\Z", "\\Z"}};
    for (const auto& [ours, theirs] : kAnchors) {
      if (!in_.Take(ours)) continue;
      out_ += theirs;
      return true;
    }
    const bool boundary = in_.Take("\\b");
    if (!boundary && !in_.Take("\\B")) return false;
    const std::string word = Pcre2Class(CodePointSet::OfWordCharacters(), false);
    const auto [behind, before] = boundary ? std::pair("?!", "?=") : std::pair("?=", "?!");
    out_ += fmt::format("(?:(?<={0})({1}{0})|(?<!{0})({2}{0}))", word, behind, before);
    return true;
  }

  void ReadAtom(bool caseless, int depth) {
    if (in_.Take("(")) {
      ReadGroup(caseless, depth);
      last_letter_ = 0;
    } else if (const std::optional<PatternClass> set = ReadClass(&in_)) {
      if (caseless) CheckCaseless(set->set);
      out_ += Pcre2Class(set->set, set->negated);
      last_letter_ = 0;
    } else {
      const char32_t c = in_.Peek();
      if (c == U'?' || c == U'*' || c == U'+' || (c == U'{' && ReadInterval())) {
        throw PatternError("a quantifier has nothing to repeat, or follows another one");
      }
      ReadLiteral(caseless);
    }
  }

  // Reads a group after its "(".
  void ReadGroup(bool caseless, int depth) {
    out_ += '(';
    if (in_.Take("?i:")) {
      caseless = true;
      out_ += "?i:";
    } else if (in_.Take("?-i:")) {
      caseless = false;
      out_ += "?-i:";
    } else if (!in_.AtEnd() && in_.Peek() == U'?') {
      const auto* const kind = std::find_if(std::begin(kGroups), std::end(kGroups),
                                            [&](std::string_view name) { return in_.Take(name); });
      if (kind == std::end(kGroups)) {
        throw PatternError(fmt::format("the group \"({}\" is not supported", in_.Rest(3)));
      }
      out_ += *kind;
    } else {
      out_ += "?:";  // nothing refers to what a group matched
    }
    ReadAlternatives(caseless, depth + 1);
    if (!in_.Take(")")) throw PatternError("a group is not closed");
    out_ += ')';
  }

  static void CheckCaseless(const CodePointSet& set) {
    static const CodePointSet letters = [] {
      CodePointSet all = CodePointSet::OfCategories(0x1F);  // Lu Ll Lt Lm Lo
      all.Add(CodePointSet::OfWordCharacters());
      return all;
    }();
    if (set.And(letters).empty() || letters.Without(set).empty()) return;
    throw PatternError("a class with some letters inside (?i:..) is not supported");
  }

  void ReadLiteral(bool caseless) {
    const char32_t c = ReadCharacter(&in_);
    if (caseless) {
      if (c >= 0x80) throw PatternError("only ASCII is supported inside (?i:..)");
      const auto lower = static_cast<char>(std::tolower(static_cast<int>(c)));
      const std::array<char, 2> pair = {last_letter_, lower};
      const std::string_view view(pair.data(), pair.size());
      if (std::find(std::begin(kFoldedPairs), std::end(kFoldedPairs), view) !=
          std::end(kFoldedPairs)) {
        throw PatternError(fmt::format("\"{}\" inside (?i:..) is not supported", view));
      }
      last_letter_ = lower;
    }
    const bool plain = c < 0x80 && std::isalnum(static_cast<int>(c)) != 0;
    out_ += plain ? std::string(1, static_cast<char>(c))
                  : fmt::format("\\x{{{:X}}}", static_cast<uint32_t>(c));
  }

  void ReadQuantifier() {
    bool interval = false;
    if (in_.Take("?")) {
      out_ += '?';
    } else if (in_.Take("*")) {
      out_ += '*';
    } else if (in_.Take("+")) {
      out_ += '+';
    } else if (in_.AtEnd() || in_.Peek() != U'{' || !ReadInterval()) {
      return;
    } else {
      interval = true;
    }
    if (in_.AtEnd()) return;
    // Ruby takes "{2}+" for a quantifier of a quantifier, and "{2}?" for an optional one.
    const char32_t next = in_.Peek();
    if (interval && (next == U'?' || next == U'+')) {
      throw PatternError(
          fmt::format("\"{}\" after an interval is not supported", static_cast<char>(next)));
    }
    if (in_.Take("?")) {
      out_ += '?';
    } else if (in_.Take("+")) {
      out_ += '+';
    }
  }

  // "{n}", "{n,}", "{,m}" or "{n,m}"; leaves anything else, a literal "{".
  bool ReadInterval() {
    PatternCursor ahead = in_;
    ahead.Take("{");
    const std::optional<int> low = ahead.TakeNumber(kMaxRepeat);
    const bool comma = ahead.Take(",");
    const std::optional<int> high = comma ? ahead.TakeNumber(kMaxRepeat) : low;
    if (!ahead.Take("}") || (!low && !high)) return false;
    if (low && high && *low > *high) throw PatternError("an interval {n,m} has n > m");
    in_ = ahead;
    out_ += fmt::format("{{{}{}{}}}", low.value_or(0), comma ? "," : "",
                        comma && high ? std::to_string(*high) : "");
    return true;
  }

  PatternCursor in_;
  std::string out_;
  char last_letter_ = 0;  // lower case, where the literal just before may form a pair; else 0
};

}  // namespace

std::string ToPcre2(std::string_view pattern) { return Translator(pattern).Translate(); }

}  // namespace tandem::text
