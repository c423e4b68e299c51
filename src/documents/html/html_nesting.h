// Says how deep the elements of an HTML text lie in each other, before a parser builds a tree of
// them: a parser takes time in proportion to the depth for every element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tandem::documents {

// Chrome flattens what lies deeper than 512; pages that people write have some tens of levels.
inline constexpr size_t kMostHtmlLevels = 512;

// The line, from 1, of the start tag that lies deeper than `most` levels; 0: none does. Counts
// elements by their tags as HTML's tree construction closes them, with these simplifications:
// elements without an end tag (br, img) and those that the next one closes (p, li, td) do not
// count; an end tag does not reach past a table, a cell's object or a template; of formatting
// elements (b, font) that are never closed, three of equal tags count (the standard's "Noah's Ark
// clause"). So the depth of the tree may be some times what is counted, not more.
int64_t LineNestedDeeperThan(std::string_view html, size_t most = kMostHtmlLevels);

}  // namespace tandem::documents
