// How an evaluation is printed; `tandem evaluate` prints so with a run and with a model.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "eval/evaluate.h"
#include "report/tables/table.h"

namespace tandem::app {

// What an evaluation of a model prints beside its measures.
struct FurtherFigures {
  std::string text;  // below everything else
  std::string tsv;   // further lines of measure, "all" and value
  Json json;         // an object, whose members are added to the evaluation's
};

// `format` is one of
//   text  a table of means, four decimals; below it, with `per_query`, one line per query
//   tsv   measure, query ("all" for the mean) and unrounded value, under a header line
//   json  {"measures": {M: mean}, "per_query": {M: {QUERY: value}}}, values unrounded; `per_query`
//         only where asked for
// A value that does not exist is "-" (json: null). A measure that pools its queries (auc) has no
// values per query.
// `further` stands after the measures.
std::string FormatEvaluation(const eval::Evaluation& evaluation, std::string_view format,
                             const report::TextStyle& style, bool per_query,
                             std::span<const FurtherFigures> further = {});

// Writes them to stderr, as notes and warnings.
void PrintRemarks(std::span<const eval::Remark> remarks);

}  // namespace tandem::app
