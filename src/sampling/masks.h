// Masks say which cells of a batch's score matrix may count as negatives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sampling/batch.h"
#include "sampling/examples.h"

namespace tandem::sampling {

// Says which cells are no negatives, besides that of each query's paired document.
struct MaskRules {
  bool copies = true;           // same document, or same text, as one that is masked
  bool known_positives = true;  // every document judged relevant for the query, at any grade
  bool same_query = true;       // every document that is masked for a row with the same query text
  bool query_text = true;       // every document whose text is the query's own
  bool in_batch = true;         // false: also all that the query has not brought itself
};

// Matrices by rows; 1 is true. A batch has Q rows and D columns; R of the rows have masks.
struct Masks {
  std::vector<uint8_t> negative;           // [R, D]: may document j count as a negative of query i?
  std::vector<uint8_t> query_negative;     // [R, Q]: may query j count as a negative of query i?
  std::vector<uint8_t> document_negative;  // [R, Q]: the same between paired documents
};

// docs/training.md, "A step". `negative[i][j]` is 0 where j is
//  - the paired document of i (always),
//  - judged for i with a grade above 0 or a positive (`known_positives`): a document of a lower
//    grade than a positive is neither a positive nor a negative,
//  - a paired document with a grade above 0 or, under `known_positives`, judged relevant for
//    another row with the text of query i (`same_query`),
//  - a copy, by document or text, of any of these (`copies`). The papers do not mask them;
//    but a copy of another positive is as relevant,
//  - a document with the text of query i (`query_text`): data of duplicates and corpora that hold
//    the queries have it, and a text is no evidence against itself,
//  - where `in_batch` is off, no extra document of row i: in-batch negatives are left out then.
// A document that is judged irrelevant stays a negative unless it is one of these. In the square
// matrices the diagonal is 0, and so are pairs of rows with the same query text (`same_query`) and
// pairs of paired documents that are copies (`copies`); without `in_batch` everything is 0.
Masks MakeMasks(const Examples& examples, const Batch& batch, const MaskRules& rules);
// Makes the masks of rows [begin, end) alone.
Masks MakeMasks(const Examples& examples, const Batch& batch, const MaskRules& rules, size_t begin,
                size_t end);

}  // namespace tandem::sampling
