// Regular expressions as tokenizer.json spells them, in PCRE2's syntax.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace tandem::text {

// A pattern that is not supported; the message says what of it.
class PatternError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The PCRE2 pattern (for PCRE2_UTF and PCRE2_MULTILINE) that matches what `pattern` matches in the
// `tokenizers` package, which runs Oniguruma in Ruby's syntax.
//
// Understood: literals, escapes, classes with ranges, nested classes and `&&`, \s \d \w \h and
// their complements, \p{..} of general categories, groups, look-around, (?i:..), anchors, and
// greedy, lazy and possessive quantifiers. Throws PatternError for all else, above all for what the
// two engines would understand differently.
std::string ToPcre2(std::string_view pattern);

}  // namespace tandem::text
