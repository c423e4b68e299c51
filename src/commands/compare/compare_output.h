// How a comparison is printed.
#pragma once

#include <string>
#include <vector>

#include "commands/compare/compare_command.h"
#include "eval/significance/compare.h"
#include "report/tables/table.h"

namespace tandem::app {

struct ShownComparison {
  const eval::Comparison& comparison;
  const std::vector<ComparedSystem>& systems;  // the baseline first
  const data::Qrels& qrels;
  const KnownTexts& texts;
  const CompareCommandOptions& options;
};

// In the options' format: text, tsv or json (docs/evaluation.md).
std::string FormatComparison(const ShownComparison& shown, const report::TextStyle& style);

// "B is better by 0.0210 ± 0.0080, p = 0.0004", "B is worse by ..." or "no difference was seen
// (0.0030 ± 0.0100, p = 0.4200)". After "±" is half of the interval; p is Holm's where there are
// several systems.
std::string VerdictOf(std::string_view system, const eval::MeasureDifference& difference,
                      double confidence);

// The queries that gained and lost most by the first measure that has values of queries, with the
// best documents of both systems beside each other; "" where there is none.
std::string ExtremesText(const ShownComparison& shown, size_t system,
                         const report::TextStyle& style);

}  // namespace tandem::app
