// The measures of groups of queries, for `tandem evaluate --group-by`.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "commands/evaluate/evaluation_output.h"
#include "eval/evaluate.h"
#include "eval/significance/bootstrap.h"
#include "report/tables/table.h"

namespace tandem::app {

// A measure of the queries that have one value of the field.
struct GroupMeasure {
  std::string measure;
  std::optional<std::string> group;        // none: queries without the field
  size_t queries = 0;                      // that have a value of the measure
  std::optional<double> mean;              // none without such queries
  std::optional<eval::Interval> interval;  // of the mean; none for fewer than two queries
};

struct GroupReport {
  std::string field;
  double confidence = 0;
  std::vector<GroupMeasure> rows;  // measure by measure, groups by name, the one without last
};

// `groups` has the field's value of every query that has it, by id. Intervals are of a bootstrap
// over the group's queries. A measure that pools its queries (auc) has no groups and is left out,
// which a note says.
GroupReport MakeGroupReport(const eval::Evaluation& evaluation, const std::string& field,
                            const std::map<std::string, std::string>& groups,
                            const eval::BootstrapOptions& options);

// As text a table; as tsv lines of "group:FIELD=VALUE:MEASURE", and the same with ":low", ":high"
// and ":queries" after it; as JSON the object `groups`.
FurtherFigures GroupFigures(const GroupReport& report, const report::TextStyle& style);

}  // namespace tandem::app
