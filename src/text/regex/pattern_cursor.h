// Reads a regular expression character by character. Only source files of this room include it.
#pragma once

#include <cctype>
#include <optional>
#include <string_view>

#include "base/utf8.h"
#include "text/regex/regex_pattern.h"

namespace tandem::text {

class PatternCursor {
 public:
  // `pattern` must be valid UTF-8.
  explicit PatternCursor(std::string_view pattern)
      : p_(pattern.data()), end_(pattern.data() + pattern.size()) {}

  bool AtEnd() const { return p_ == end_; }
  // The next character; 0 at the end.
  char32_t Peek() const {
    const char* p = p_;
    return AtEnd() ? 0 : NextCodePoint(p);
  }
  // Throws PatternError at the end.
  char32_t Next() {
    if (AtEnd()) throw PatternError("the pattern ends too early");
    return NextCodePoint(p_);
  }
  // Moves past `token` where it is next.
  bool Take(std::string_view token) {
    if (!std::string_view(p_, Left()).starts_with(token)) return false;
    p_ += token.size();
    return true;
  }
  // A decimal number of ASCII digits. Throws PatternError where it is above `most`.
  std::optional<int> TakeNumber(int most) {
    std::optional<int> number;
    while (!AtEnd() && std::isdigit(static_cast<unsigned char>(*p_)) != 0) {
      number = number.value_or(0) * 10 + (*p_++ - '0');
      if (*number > most) throw PatternError("a number is too large");
    }
    return number;
  }
  // Returns at most `count` characters that are still to come, for messages.
  std::string_view Rest(int count) const {
    const char* p = p_;
    while (count-- > 0 && p < end_) NextCodePoint(p);
    return {p_, static_cast<size_t>(p - p_)};
  }

 private:
  size_t Left() const { return static_cast<size_t>(end_ - p_); }

  const char* p_;
  const char* end_;
};

}  // namespace tandem::text
