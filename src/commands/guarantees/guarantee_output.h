// Prints what is promised, to whom and under which assumption, for `tandem calibrate --guarantee`.
#pragma once

#include <string>
#include <string_view>

#include "commands/guarantees/guarantee_study.h"
#include "report/tables/table.h"
#include "weights/settings/guarantee.h"

namespace tandem::app {

// text: a table of the promises, a sentence on each, and what they rest on; tsv: the table,
// unrounded; json: {"guarantees": [{"promise", "by", "group", "promised", "threshold", "queries",
// "fewest_queries", "loss", "nothing", "sentence", "why"}], "basis": {...}, "queries",
// "queries_without_positive", "queries_without_group", "documents", "unjudged"}.
std::string FormatGuarantees(const GuaranteeStudy& study, const weights::GuaranteeBasis& basis,
                             std::string_view format, const report::TextStyle& style);

}  // namespace tandem::app
