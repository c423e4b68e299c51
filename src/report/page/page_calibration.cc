// Says whether scores are probabilities.
#include <fmt/format.h>

#include <algorithm>

#include "report/page/page_parts.h"
#include "report/tables/numbers.h"

namespace tandem::report {
namespace {

// The share of positives among ten results is off by up to 0.3 in 19 of 20 cases (binomial, at a
// half): a point of fewer says nothing.
constexpr int64_t kFewestResults = 10;

bool IsShown(const ReliabilityRow& row) {
  return row.count >= kFewestResults && row.mean_probability && row.share_positive;
}

// How many queries the figure's points are of, and what is left out of it.
std::string BasisText(const EvaluationGroup& group) {
  const int64_t queries = group.evaluations.front()->record.dataset.queries;
  return fmt::format(" Results of {} {}; bins of fewer than {} results are left out.", queries,
                     queries == 1 ? "query" : "queries", kFewestResults);
}

Figure ReliabilityFigure(const EvaluationGroup& group) {
  Figure figure{
      .name = "reliability",
      .title = "Reliability",
      .description =
          "Share of positives among results of about the same probability. On "
          "the dashed line probabilities are true; below it they promise too "
          "much." +
          BasisText(group),
      .x = {.label = "probability", .column = "probability", .low = 0, .high = 1},
      .y = {.label = "share of positives", .column = "share_positive", .low = 0, .high = 1},
      .diagonal = true};
  for (size_t i = 0; i < group.evaluations.size(); ++i) {
    const std::vector<CalibrationFacts>& methods = group.evaluations[i]->record.calibration;
    // Many models show only each one's own way: more lines than six cannot be told apart.
    const size_t shown =
        group.evaluations.size() > 2 ? std::min<size_t>(1, methods.size()) : methods.size();
    for (size_t m = 0; m < shown; ++m) {
      Series series{.name = fmt::format("{}, {}", group.evaluations[i]->label, methods[m].method),
                    .mark = Mark::kLineAndPoints,
                    .dashed = m > 0,
                    .colour = group.colours[i]};
      for (const ReliabilityRow& row : methods[m].reliability) {
        if (IsShown(row)) series.points.push_back({*row.mean_probability, *row.share_positive});
      }
      if (series.points.size() > 1) figure.series.push_back(std::move(series));
    }
  }
  return figure;
}

void AddReliability(const EvaluationGroup& group, Page& page) {
  Figure figure = ReliabilityFigure(group);
  if (figure.series.empty()) {
    page.Missing(fmt::format("No reliability curve of {}: no two bins have {} results.",
                             group.dataset, kFewestResults));
    return;
  }
  page.Figures([&] { page.AddFigure(std::move(figure)); });
}

std::vector<int64_t> DepthsOf(const EvaluationGroup& group) {
  std::vector<int64_t> depths;
  for (const LabelledEvaluation* one : group.evaluations) {
    for (const CalibrationFacts& method : one->record.calibration) {
      for (const CalibrationAtDepth& at : method.at_depths) depths.push_back(at.depth);
    }
  }
  std::sort(depths.begin(), depths.end());
  depths.erase(std::unique(depths.begin(), depths.end()), depths.end());
  return depths;
}

PageTable CalibrationTable(const EvaluationGroup& group) {
  const std::vector<int64_t> depths = DepthsOf(group);
  PageTable table{.caption = "Errors of the probabilities, " + group.dataset + "; lower is better",
                  .columns = {{"Evaluation"}, {"Method"}, {"Expected calibration error", true}}};
  for (const int64_t depth : depths) {
    table.columns.push_back(
        {fmt::format("… of the first {}", depth), true, depth == depths.front()});
  }
  table.columns.push_back({"Brier score", true});
  table.columns.push_back({"Log loss", true});
  for (const LabelledEvaluation* one : group.evaluations) {
    for (const CalibrationFacts& method : one->record.calibration) {
      std::vector<PageCell> row = {ForeignCell(one->label), ForeignCell(method.method),
                                   NumberCell(method.expected_calibration_error)};
      for (const int64_t depth : depths) {
        const auto found =
            std::find_if(method.at_depths.begin(), method.at_depths.end(),
                         [&](const CalibrationAtDepth& at) { return at.depth == depth; });
        row.push_back(found == method.at_depths.end()
                          ? TextCell("-")
                          : NumberCell(found->expected_calibration_error));
      }
      row.push_back(NumberCell(method.brier));
      row.push_back(NumberCell(method.log_loss));
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace

void AddCalibration(const ReportInput& input, Page& page) {
  const std::vector<EvaluationGroup> groups = GroupsOf(input);
  if (groups.empty()) return;
  page.Section("calibration", "Whether scores are probabilities", [&] {
    for (const EvaluationGroup& group : groups) {
      if (groups.size() > 1) page.Subheading(group.dataset);
      const bool any = std::any_of(
          group.evaluations.begin(), group.evaluations.end(),
          [](const LabelledEvaluation* one) { return !one->record.calibration.empty(); });
      if (!any) {
        page.Missing("No calibration on " + group.dataset +
                     ": tandem calibrate makes probabilities of a model's scores.");
        continue;
      }
      AddReliability(group, page);
      page.AddTable(CalibrationTable(group));
    }
  });
}

}  // namespace tandem::report
