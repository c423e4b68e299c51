// What a batch knows: which cells of its score matrix are labelled, and which may be negatives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sampling/batch.h"
#include "sampling/examples.h"

namespace tandem::sampling {

// Which cells are kept out of the negatives besides each query's own document.
struct MaskRules {
  bool copies = true;           // same document, or same text, as one that is masked
  bool known_positives = true;  // every document judged relevant for the query, at any grade
  bool same_query = true;       // what is masked for another row with the same query text
};

// Matrices by rows; 1 is true. Q rows, D columns as in the Batch.
struct Masks {
  std::vector<uint8_t> negative;           // [Q, D]: may document j count as a negative of query i?
  std::vector<uint8_t> labelled;           // [Q, D]: own and further documents of the row
  std::vector<uint8_t> query_negative;     // [Q, Q]: may query j count as a negative of query i?
  std::vector<uint8_t> document_negative;  // [Q, Q]: the same between own documents
};

// METHODS section 1. `negative[i][j]` is 0 where j is
//  - the own document of i (always),
//  - judged for i with a grade above 0 or a positive (`known_positives`): a document of a lower
//    grade than a positive is neither a positive nor a negative,
//  - own document with a grade above 0 or, under `known_positives`, judged relevant for another row
//    with the text of query i (`same_query`),
//  - a copy, by document or text, of any of these (`copies`): the page asks for copies of the own
//    document; a copy of another positive is no less relevant.
// A document that is judged irrelevant stays a negative unless it is such a copy. The diagonals of
// the square matrices are 0; so are pairs of rows with the same query text (under `same_query`)
// and own documents that are copies (under `copies`).
Masks MakeMasks(const Examples& examples, const Batch& batch, const MaskRules& rules);

}  // namespace tandem::sampling
