// Prints a comparison.
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

// Formats the comparison in the options' format: text, tsv or json (docs/evaluation.md).
std::string FormatComparison(const ShownComparison& shown, const report::TextStyle& style);

// "B is better by 0.0210 ± 0.0080, p = 0.0004", "B is worse by ..." or "no difference was seen
// (0.0030 ± 0.0100, p = 0.4200)". The number after "±" is half the width of the interval; p is
// corrected by Holm's method if several systems are compared with the baseline. Where so few
// queries differ that no difference could have been seen, that is said.
std::string VerdictOf(std::string_view system, const eval::MeasureDifference& difference,
                      double confidence);

// Shows the queries that gained and lost most by the first measure with values for single queries,
// with the best documents of both systems side by side; "" if there is no such measure.
std::string ExtremesText(const ShownComparison& shown, size_t system,
                         const report::TextStyle& style);

}  // namespace tandem::app
