// Answers that are documents, from an index of their passages (data/texts/passage_groups.h).
#pragma once

#include <cstddef>
#include <vector>

#include "index/query/answers.h"

namespace tandem::index {

// The best passage of each of the first `options.k` documents for each query of queries [count, E];
// equal scores by the document's id, descending in bytes; of a document's equal passages the first.
// Passages are searched for deeper and deeper until no passage that was not seen can be the best
// one of such a document, so that the documents are exactly those of a ranking of all passages, as
// far as the kind of index finds all of these. options.highlight must be false; the rest as for
// FindAnswers.
std::vector<std::vector<Answer>> FindDocuments(const DocumentIndex& index, const float* queries,
                                               size_t count, const AnswerOptions& options,
                                               const weights::Calibration* calibration);

}  // namespace tandem::index
