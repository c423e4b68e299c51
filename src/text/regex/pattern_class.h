// Reads characters and character classes of regular expressions. Only this room includes it.
#pragma once

#include <optional>

#include "text/regex/pattern_cursor.h"
#include "text/unicode/code_point_set.h"

namespace tandem::text {

// The characters that the pattern lists, and whether it means all other characters.
struct PatternClass {
  CodePointSet set;
  bool negated = false;

  CodePointSet Members() const { return negated ? set.Complement() : set; }
};

// Reads "[...]", "." or an escape of several characters (\s, \p{L}); nothing, and reads nothing,
// where none is next. Throws PatternError for a class that is not supported.
std::optional<PatternClass> ReadClass(PatternCursor* in);

// Reads one character, escaped or not, outside of "[...]". Throws PatternError for an escape that
// is not supported.
char32_t ReadCharacter(PatternCursor* in);

}  // namespace tandem::text
