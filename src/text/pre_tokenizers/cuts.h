// Says where a long text may be cut into parts that a tokenizer's stage works on one by one.
#pragma once

#include <algorithm>

namespace tandem::text {

// Says before which U+0020 a stage allows a cut: what it makes of the parts, concatenated, is what
// it makes of the whole. Each value allows what those before it allow.
//
// For a normalizer N and a text xy with a cut before y this also means that N(y) starts with U+0020
// and that, where x ends with a character from U+0021 to U+007E, so does N(x): the next stage may
// be cut there, too.
enum class Cuts {
  kNowhere,
  kAfterAscii,  // cuts after a character from U+0021 to U+007E
  kAtSpaces,    // all
};

// The cuts that two stages allow, one after the other.
inline Cuts Both(Cuts first, Cuts second) { return std::min(first, second); }

}  // namespace tandem::text
