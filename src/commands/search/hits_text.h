// The hits of a search as lines for a person.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "index/query/passages.h"
#include "report/tables/table.h"

namespace tandem::app {

struct ShownHit {
  double score = 0;
  std::optional<double> probability;  // either of all hits or of none
  std::string_view id;
  std::string_view text;
  std::optional<index::Passage> highlight;  // of `text`
};

// One line for each hit, best first: rank, score, probability where there is one, id and as much of
// the text as fits, cut between words. Texts begin in the same column, whatever the ids' lengths
// are. Where ids leave too little room for a text, it stands on a line of its own below them.
//
// A highlighted passage follows on lines of its own, whole, after "» ". It takes the place of the
// text where that begins with it, and where the whole text is the passage and fits on the hit's
// line, that is all. Passages are bold where `style` says so.
std::string HitsText(std::span<const ShownHit> hits, const report::TextStyle& style);

}  // namespace tandem::app
