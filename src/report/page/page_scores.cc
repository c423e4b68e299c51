// Says whether scores tell positives from the rest: ROC, precision and recall, thresholds,
// histograms.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/page/page_parts.h"
#include "report/records/same_data.h"
#include "report/tables/numbers.h"

namespace tandem::report {
namespace {

// An axis of false-positive rates begins where the points do, within these.
constexpr double kLowestRate = 1e-6;
constexpr double kHighestRate = 1e-2;

bool HasRoc(const EvaluationGroup& group) {
  return std::any_of(group.evaluations.begin(), group.evaluations.end(),
                     [](const LabelledEvaluation* one) { return one->record.roc.has_value(); });
}

template <typename PointsOf>
void AddSeries(const EvaluationGroup& group, const PointsOf& points_of, Figure& figure) {
  for (size_t i = 0; i < group.evaluations.size(); ++i) {
    const LabelledEvaluation& one = *group.evaluations[i];
    if (!one.record.roc) continue;
    figure.series.push_back({.name = one.label,
                             .points = points_of(*one.record.roc),
                             .dashed = i == 0 && group.evaluations.size() > 1,
                             .colour = group.colours[i]});
  }
}

Figure RocFigure(const EvaluationGroup& group) {
  Figure figure{
      .name = "roc",
      .title = "ROC",
      .description =
          "Share of the positives found, over the share of non-positives let through. "
          "The axis is logarithmic: what counts is at its left.",
      .x = {.label = "false-positive rate",
            .column = "false_positive_rate",
            .logarithmic = true,
            .high = 1},
      .y = {.label = "true-positive rate", .column = "true_positive_rate", .low = 0, .high = 1},
      .diagonal = false};
  AddSeries(
      group, [](const RocFacts& roc) { return roc.points; }, figure);
  figure.x.low = std::clamp(RangeOfX(figure).low, kLowestRate, kHighestRate);
  return figure;
}

Figure PrecisionRecallFigure(const EvaluationGroup& group) {
  Figure figure{.name = "precision-recall",
                .title = "Precision and recall",
                .description =
                    "Share of the results that are right, over the share of the "
                    "positives found, threshold by threshold.",
                .x = {.label = "recall", .column = "recall", .low = 0, .high = 1},
                .y = {.label = "precision", .column = "precision", .low = 0, .high = 1}};
  AddSeries(
      group, [](const RocFacts& roc) { return roc.precision_recall; }, figure);
  return figure;
}

PageTable RocTable(const EvaluationGroup& group) {
  PageTable table{.caption = "Scores of all queries pooled, " + group.dataset,
                  .columns = {{"Evaluation"},
                              {"AUC", true},
                              {"Partial AUC", true},
                              {"Average precision", true},
                              {"Positives", true},
                              {"Non-positives", true}},
                  .sortable = group.evaluations.size() > 1};
  for (const LabelledEvaluation* one : group.evaluations) {
    if (!one->record.roc) continue;
    const RocFacts& roc = *one->record.roc;
    table.rows.push_back({ForeignCell(one->label), NumberCell(roc.auc), NumberCell(roc.partial_auc),
                          NumberCell(roc.average_precision), CountCell(roc.positives),
                          CountCell(roc.negatives)});
  }
  return table;
}

PageCell ShareCell(std::optional<double> share) {
  return {.text = Percent(share), .sort_value = share};
}

PageTable ThresholdTable(const LabelledEvaluation& one) {
  PageTable table{.caption = fmt::format("Thresholds of {}, chosen on {} and measured on the same "
                                         "queries: on others they hold less well",
                                         one.label, DataName(one.record.dataset)),
                  .columns = {{"Target"},
                              {"Score", true},
                              {"Precision", true},
                              {"Recall", true},
                              {"False-positive rate", true},
                              {"Results a query", true}}};
  for (const ThresholdRow& row : one.record.roc->thresholds) {
    PageCell score = NumberCell(row.score, 3);
    if (!row.score) score.text = "cannot be met";
    if (row.low && row.high) {
      score.note = fmt::format("[{}, {}]", Fixed(row.low, 3), Fixed(row.high, 3));
    }
    PageCell rate = {
        .text = row.false_positive_rate ? fmt::format("{:.2g}", *row.false_positive_rate) : "-",
        .sort_value = row.false_positive_rate};
    table.rows.push_back({ForeignCell(row.target), std::move(score), ShareCell(row.precision),
                          ShareCell(row.recall), std::move(rate), NumberCell(row.results, 1)});
  }
  return table;
}

// The outline of a histogram, as shares of its sum, so that few positives and many negatives can be
// laid over each other.
std::vector<Point> Outline(const Histogram& histogram) {
  double sum = 0;
  for (const int64_t count : histogram.counts) sum += static_cast<double>(count);
  const double width =
      (histogram.to - histogram.from) / static_cast<double>(histogram.counts.size());
  std::vector<Point> points;
  double share = 0;
  for (size_t i = 0; i < histogram.counts.size(); ++i) {
    share = sum > 0 ? static_cast<double>(histogram.counts[i]) / sum : 0;
    points.push_back({histogram.from + width * static_cast<double>(i), share});
  }
  points.push_back({histogram.to, share});
  return points;
}

void AddScoreFigures(const EvaluationGroup& group, Page& page) {
  // All figures have the same axis, so that a reader sees what moved.
  std::vector<Figure> figures;
  AxisRange range{HUGE_VAL, -HUGE_VAL};
  double highest = 0;
  for (size_t i = 0; i < group.evaluations.size(); ++i) {
    const LabelledEvaluation& one = *group.evaluations[i];
    if (!one.record.scores) continue;
    Figure figure = HistogramFigure("scores", "Scores, " + one.label,
                                    "Each query's positives, and its highest non-positives: the "
                                    "less they overlap, the better one threshold serves all.",
                                    "score");
    figure.series = {{.name = "highest non-positives",
                      .mark = Mark::kSteps,
                      .points = Outline(one.record.scores->hard_negatives),
                      .colour = 2},
                     {.name = "positives",
                      .mark = Mark::kSteps,
                      .points = Outline(one.record.scores->positives),
                      .colour = 1}};
    range.low = std::min(range.low, RangeOfX(figure).low);
    range.high = std::max(range.high, RangeOfX(figure).high);
    highest = std::max(highest, RangeOfY(figure).high);
    figures.push_back(std::move(figure));
  }
  for (Figure& figure : figures) {
    figure.x.low = range.low;
    figure.x.high = range.high;
    figure.y.high = highest;
    page.AddFigure(std::move(figure));
  }
}

// `together`: the histograms of all models stand in one figure too, before those of each.
void AddRoc(const EvaluationGroup& group, bool together, Page& page) {
  if (!HasRoc(group)) {
    page.Missing(
        "No ROC on " + group.dataset +
        ": it needs scores of positives and of other documents, and these evaluations have "
        "none.");
  } else {
    page.AddTable(RocTable(group));
    AddRocDominance(group, page);
  }
  page.Figures([&] {
    if (HasRoc(group)) {
      page.AddFigure(RocFigure(group));
      page.AddFigure(PrecisionRecallFigure(group));
    }
    if (std::optional<Figure> all = together ? ScoresTogether(group) : std::nullopt) {
      page.AddFigure(std::move(*all));
    }
    AddScoreFigures(group, page);
  });
  if (HasRoc(group) && IsByDocument(group.evaluations.front()->record.dataset)) {
    page.Missing(fmt::format("No thresholds on {}: {}.", group.dataset, kNoThresholdByDocument));
  }
  for (const LabelledEvaluation* one : group.evaluations) {
    if (one->record.roc && !one->record.roc->thresholds.empty()) {
      page.AddTable(ThresholdTable(*one));
    }
    if (!one->record.scores) page.Missing(one->label + ": no histograms of scores.");
  }
}

}  // namespace

Figure HistogramFigure(std::string name, std::string title, std::string description,
                       std::string column) {
  Figure figure{.name = std::move(name),
                .title = std::move(title),
                .description = std::move(description),
                .x = {.label = column, .column = column},
                .y = {.label = "share", .column = "share", .low = 0}};
  std::replace(figure.x.column.begin(), figure.x.column.end(), ' ', '_');
  return figure;
}

std::vector<Point> HistogramOutline(const Histogram& histogram) { return Outline(histogram); }

void AddDiscrimination(const ReportInput& input, Page& page) {
  const std::vector<EvaluationGroup> groups = GroupsOf(input);
  if (groups.empty()) return;
  page.Section("discrimination", "Whether one threshold serves all queries", [&] {
    for (const EvaluationGroup& group : groups) {
      if (groups.size() > 1) page.Subheading(group.dataset);
      // Before and after of one run stand beside each other anyway.
      AddRoc(group, input.runs.size() != 1 || group.evaluations.size() > 2, page);
    }
  });
}

}  // namespace tandem::report
