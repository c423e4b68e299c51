// Prints the results of several models on several data sets, for `tandem evaluate`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "commands/evaluate/evaluation_plan.h"
#include "report/tables/table.h"

namespace tandem::app {

struct SuiteResults {
  EvaluationPlan plan;
  std::vector<std::vector<ModelEvaluation>> of;  // [sets][models]
};

// `format` is one of
//   text  for each measure a block with a column for each model, and a row for each set, their mean
//         and the average rank; the best of a row is bold in `style`. Below them, what was
//         ranked for sets whose whole corpus was not ranked
//   tsv   measure, model, set, query, value under a header line. Query "all" is the mean over a
//         set's queries; set "all" is the mean over the sets, and with query "rank" the average
//         rank over them. `per_query` adds a line for each query
//   json  {"models": [{"name", "path"}], "sets": [{"name", "path", "split", "queries", "documents",
//         "corpus"[, "candidates"]}], "measures": {M: {"values": {MODEL: {SET: value}}, "mean":
//         {MODEL: value}, "average_rank": {MODEL: rank}}}[, "per_query": {M: {MODEL: {SET: {QUERY:
//         value}}}}]}; "documents" are those that were ranked for a query, at most
// Values are unrounded but for text. A value that does not exist is "-" (json: null); a mean and a
// rank over sets need the values of all of them.
std::string FormatSuite(const SuiteResults& results, std::string_view format, bool per_query,
                        const report::TextStyle& style = {});

}  // namespace tandem::app
