// The hits of a search as lines for a person.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tandem::app {

struct ShownHit {
  double score = 0;
  std::optional<double> probability;  // either of all hits or of none
  std::string_view id;
  std::string_view text;
};

// One line for each hit, best first: rank, score, probability where there is one, id and as much of
// the text as fits, cut between words. Texts begin in the same column, whatever the ids' lengths
// are. Where ids leave too little room for a text, it stands on a line of its own below them.
std::string HitsText(std::span<const ShownHit> hits, size_t columns);

}  // namespace tandem::app
