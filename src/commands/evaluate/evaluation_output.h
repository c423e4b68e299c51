// Prints the evaluation of a run or of a model, for `tandem evaluate`.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "eval/evaluate.h"
#include "report/tables/table.h"

namespace tandem::app {

// Figures that an evaluation of a model prints besides its measures.
struct FurtherFigures {
  std::string text;  // printed below everything else
  std::string tsv;   // more lines of measure, "all" and value
  Json json;         // an object, whose members are added to those of the evaluation
};

// `format` is one of
//   text  a table of means, four decimals; below it, with `per_query`, one line per query
//   tsv   measure, query ("all" for the mean) and unrounded value, under a header line
//   json  {"measures": {M: mean}, "per_query": {M: {QUERY: value}}}, values unrounded; `per_query`
//         only where asked for
// A value that does not exist is "-" (json: null). A measure that pools its queries (auc) has no
// values per query. `further` is printed after the measures.
std::string FormatEvaluation(const eval::Evaluation& evaluation, std::string_view format,
                             const report::TextStyle& style, bool per_query,
                             std::span<const FurtherFigures> further = {});

// Writes the remarks to stderr, as notes and warnings.
void PrintRemarks(std::span<const eval::Remark> remarks);

}  // namespace tandem::app
