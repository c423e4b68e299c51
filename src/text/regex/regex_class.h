// Character classes for PCRE2 that match what the `tokenizers` package matches, whatever version of
// Unicode PCRE2 knows.
#pragma once

#include <string>

#include "text/unicode/code_point_set.h"

namespace tandem::text {

// A PCRE2 pattern, to be compiled with PCRE2_UTF, that matches one character of `set`, or one that
// is not in it where `negated`. A quantifier may follow it.
//
// Properties such as \p{L} stand for most of a large set, since PCRE2 looks them up in a table;
// what PCRE2 understands by them is asked for and what differs from `set` is put right. Debian 12's
// PCRE2 10.42 knows Unicode 14, the package Unicode 16.
std::string Pcre2Class(const CodePointSet& set, bool negated);

}  // namespace tandem::text
