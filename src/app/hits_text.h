// The hits of a search as lines for a person.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tandem::app {

struct ShownHit {
  double score = 0;
  std::string_view id;
  std::string_view text;
};

// One line for each hit, best first: rank, score, id and as much of the text as fits, cut between
// words. Texts begin in the same column, whatever the ids' lengths are. Where ids leave too little
// room for a text, it stands on a line of its own below them.
std::string HitsText(std::span<const ShownHit> hits, size_t columns);

// `text` on one line of at most `columns` columns, blanks and control characters as single spaces;
// what is longer is cut between words (within a word that is longer than a line) and ends in "…".
std::string OneLine(std::string_view text, size_t columns);

// Columns of the terminal that standard output is; where it is none, of a usual one.
size_t OutputColumns();

}  // namespace tandem::app
