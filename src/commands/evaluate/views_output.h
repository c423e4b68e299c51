// Prints the views of an embedding space below an evaluation.
#pragma once

#include <span>
#include <string_view>

#include "commands/evaluate/evaluation_output.h"
#include "eval/views/embedding_views.h"

namespace tandem::app {

// text  a table of the numbers, four decimals, under a line "embedding views"
// tsv   a line "views.NAME", "all", value for each number, unrounded
// json  "views": the numbers, the histograms, and the points of the pictures
// `query_ids` [Q] are the ids of the rows ViewRows::queries. A number that does not exist is "-"
// (json: null).
FurtherFigures ViewsFigures(const eval::EmbeddingViews& views,
                            std::span<const std::string_view> query_ids);

}  // namespace tandem::app
