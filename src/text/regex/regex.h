// Regular expressions of tokenizer.json.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "text/regex/pcre2_code.h"
#include "text/regex/regex_pattern.h"

namespace tandem::text {

// Immutable and safe to share between threads.
class Regex {
 public:
  // See ToPcre2 for what a pattern may be. Throws PatternError.
  explicit Regex(std::string_view pattern) : code_(ToPcre2(pattern)) {}
  // A pattern that matches `text` itself.
  static Regex Of(std::string_view text);

  // Calls `function(begin, end)`, byte offsets, for each match in `text` (valid UTF-8) from left to
  // right. No match starts before the one before it ends, and an empty one not even there. Throws
  // DataError as Pcre2Code::Find.
  template <typename Function>
  void ForEachMatch(std::string_view text, const Function& function) const {
    Pcre2Code::Match match{0, 0};
    bool any = false;
    size_t from = 0;
    while (from <= text.size()) {
      const size_t last_end = match.end;
      if (!code_.Find(text, from, &match)) return;
      if (any && match.begin == match.end && match.end == last_end) {
        if (from == text.size()) return;
        const char* next = text.data() + from;
        NextCodePoint(next);
        from = static_cast<size_t>(next - text.data());
        continue;
      }
      any = true;
      function(match.begin, match.end);
      from = match.end;
    }
  }

 private:
  Pcre2Code code_;
};

}  // namespace tandem::text
