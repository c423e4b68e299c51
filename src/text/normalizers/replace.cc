#include "text/normalizers/replace.h"

#include <charconv>
#include <optional>

#include "base/utf8.h"
#include "text/regex/regex.h"
#include "text/unicode/unicode.h"

namespace tandem::text {
namespace {

bool IsVisibleAscii(char c) { return c > ' ' && c <= '~'; }

struct Match {
  size_t begin, end;  // begin < end
};

// A pattern whose matches are found one by one.
class SearchedPattern : public TextPattern {
 public:
  // The first match in `text` that starts at `from` or later.
  virtual std::optional<Match> Find(std::string_view text, size_t from) const = 0;

  void AppendReplaced(std::string_view text, std::string_view content,
                      std::string* out) const override {
    size_t done = 0;
    while (const std::optional<Match> match = Find(text, done)) {
      out->append(text, done, match->begin - done);
      out->append(content);
      done = match->end;
    }
    out->append(text, done);
  }
};

class StringPattern final : public SearchedPattern {
 public:
  explicit StringPattern(std::string_view string) : string_(string) {}

  std::optional<Match> Find(std::string_view text, size_t from) const override {
    const size_t begin = text.find(string_, from);
    if (begin == std::string_view::npos) return {};
    return Match{begin, begin + string_.size()};
  }

  // A match must not hold a space, and what it leaves must not become one at the end of a part.
  Cuts CutsWith(std::string_view content) const override {
    if (string_.find(' ') != std::string::npos) return Cuts::kNowhere;
    const bool keeps_end =
        !IsVisibleAscii(string_.back()) || (!content.empty() && IsVisibleAscii(content.back()));
    return keeps_end ? Cuts::kAtSpaces : Cuts::kNowhere;
  }

 private:
  std::string string_;
};

// Matches at least `least` characters in a row that are `character`, or white space where there is
// none.
class RunPattern final : public SearchedPattern {
 public:
  RunPattern(std::optional<char32_t> character, size_t least)
      : character_(character), least_(least) {}

  std::optional<Match> Find(std::string_view text, size_t from) const override {
    const char* const end = text.data() + text.size();
    const auto offset = [&](const char* p) { return static_cast<size_t>(p - text.data()); };
    for (const char* p = text.data() + from; p < end;) {
      const char* const begin = p;
      size_t count = 0;
      for (const char* next = p; next < end && Is(NextCodePoint(next)); p = next) ++count;
      if (count >= least_) return Match{offset(begin), offset(p)};
      if (p < end) NextCodePoint(p);
    }
    return {};
  }

  // After a visible character a run starts anew; a run of spaces must stay one that starts with a
  // space.
  Cuts CutsWith(std::string_view content) const override {
    const bool keeps_space = !TakesSpaces() || content.starts_with(' ');
    const bool takes_visible = character_ && *character_ > ' ' && *character_ <= '~';
    return keeps_space && !takes_visible ? Cuts::kAfterAscii : Cuts::kNowhere;
  }

 private:
  bool TakesSpaces() const { return !character_ || *character_ == ' '; }
  bool Is(char32_t c) const { return character_ ? c == *character_ : Has(c, kRegexSpace); }

  std::optional<char32_t> character_;
  size_t least_;
};

// A pattern that PCRE2 searches for. A match may depend on text far from it.
class RegexPattern final : public TextPattern {
 public:
  explicit RegexPattern(std::string_view regex) : regex_(regex) {}

  void AppendReplaced(std::string_view text, std::string_view content,
                      std::string* out) const override {
    if (text.empty()) return;  // where the package searches for nothing
    size_t done = 0;
    regex_.ForEachMatch(text, [&](size_t begin, size_t end) {
      out->append(text, done, begin - done);
      out->append(content);
      done = end;
    });
    out->append(text, done);
  }
  Cuts CutsWith(std::string_view) const override { return Cuts::kNowhere; }

 private:
  Regex regex_;
};

// Returns nothing for a pattern of another kind.
std::unique_ptr<const TextPattern> MakeRunPattern(std::string_view regex) {
  std::optional<char32_t> character;
  if (regex.starts_with("\\s")) {
    regex.remove_prefix(2);
  } else {
    if (regex.empty() ||
        std::string_view("\\^$.|?*+()[]{}").find(regex.front()) != std::string_view::npos) {
      return nullptr;
    }
    const char* p = regex.data();
    character = NextCodePoint(p);
    regex.remove_prefix(static_cast<size_t>(p - regex.data()));
  }
  size_t least = 1;
  if (regex != "+") {
    if (!regex.starts_with('{') || !regex.ends_with(",}")) return nullptr;
    const char* const last = regex.data() + regex.size() - 2;
    const auto [end, error] = std::from_chars(regex.data() + 1, last, least);
    if (error != std::errc() || end != last || least == 0) return nullptr;
  }
  return std::make_unique<RunPattern>(character, least);
}

}  // namespace

std::unique_ptr<const TextPattern> MakeStringPattern(std::string_view string) {
  return std::make_unique<StringPattern>(string);
}

std::unique_ptr<const TextPattern> MakeRegexPattern(std::string_view regex) {
  if (auto run = MakeRunPattern(regex)) return run;
  return std::make_unique<RegexPattern>(regex);
}

}  // namespace tandem::text
