// Formats the hits of a search as lines for a person.
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
  std::optional<double> probability;  // either all hits have it, or none
  std::string_view id;
  std::string_view text;
  std::optional<index::Passage> highlight;  // a passage of `text`
  std::string_view passage = {};  // id of the passage whose text `text` is, of `id`; "": none

  std::string_view shown_id() const { return passage.empty() ? id : passage; }
};

// Returns one line for each hit, best first: rank, score, probability if there is one, id (of the
// passage where there is one, which begins with the document's) and as much of the text as fits,
// cut between words. Texts begin in the same column, whatever the ids' lengths are. If ids leave
// too little room for a text, it is on a line of its own below them.
//
// A highlighted passage follows whole on its own lines, after "» ". If the text begins with the
// passage, the passage replaces the text. If the passage is the whole text and fits on the hit's
// line, only that line is shown. Passages are bold if `style` says so.
std::string HitsText(std::span<const ShownHit> hits, const report::TextStyle& style);

}  // namespace tandem::app
