// The passages of a text that highlighting chooses from.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace tandem::index {

struct Passage {  // bytes of the text; whole UTF-8 characters
  size_t begin = 0;
  size_t end = 0;
  bool operator==(const Passage&) const = default;
};

// Sentences, joined while they take at most `target_bytes` together, in order; blanks at both ends
// of a passage belong to none, and everything else to one. A text that is empty or blank has none.
//
// A sentence ends after a full stop, an exclamation or question mark of any script, and at the end
// of a line. A full stop after an abbreviation, an initial or the number of a list, and whatever a
// lower-case letter follows, ends none. A sentence of more than twice `target_bytes` is cut after a
// comma or at a blank, where it has none between characters; in invalid UTF-8 each subpart counts
// as a character. A paragraph's end, a blank line, ends a passage that is at least half full; what
// would be left alone at the end of a paragraph joins what stands before it.
std::vector<Passage> SplitPassages(std::string_view text, size_t target_bytes = 320);

}  // namespace tandem::index
