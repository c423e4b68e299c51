// How an evaluation is printed; `tandem evaluate` prints so with a run and with a model.
#pragma once

#include <string>
#include <string_view>

#include "eval/evaluate.h"
#include "report/table.h"

namespace tandem::app {

// `format` is one of
//   text  a table of means, four decimals; below it, with `per_query`, one line per query
//   tsv   measure, query ("all" for the mean) and unrounded value, under a header line
//   json  {"measures": {M: mean}, "per_query": {M: {QUERY: value}}}, values unrounded; `per_query`
//         only where asked for
// A value that does not exist is "-" (json: null). A measure that pools its queries (auc) has no
// values per query.
std::string FormatEvaluation(const eval::Evaluation& evaluation, std::string_view format,
                             const report::TextStyle& style, bool per_query);

// Writes eval::RemarksOn to stderr, as notes and warnings.
void PrintRemarks(const eval::Evaluation& evaluation, const eval::EvaluationOptions& options);

}  // namespace tandem::app
