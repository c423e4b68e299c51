// How long runs took to their best validation.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "report/sweep/sweep_parts.h"
#include "report/tables/numbers.h"

namespace tandem::report {
namespace {

std::optional<double> ValueAt(const ValidationRow& row, std::string_view measure) {
  for (const NamedNumber& number : row.measures) {
    if (number.name == measure) return number.AsDouble();
  }
  return std::nullopt;
}

// Where a run's validations lie on an axis: at steps or at seconds.
enum class Against { kSteps, kSeconds };

std::optional<double> PlaceOf(const RunRecord& run, size_t validation, Against against) {
  if (against == Against::kSteps) {
    return static_cast<double>(run.log.validations[validation].step);
  }
  if (validation >= run.seconds_to_validations.size()) return std::nullopt;
  const double seconds = run.seconds_to_validations[validation];
  return std::isfinite(seconds) ? std::optional(seconds) : std::nullopt;
}

// The best value up to each validation, beside its place.
std::vector<Point> BestSoFar(const RunRecord& run, std::string_view measure, Against against) {
  const bool lower = LowerIsBetter(measure);
  std::vector<Point> points;
  std::optional<double> best;
  for (size_t i = 0; i < run.log.validations.size(); ++i) {
    const std::optional<double> value = ValueAt(run.log.validations[i], measure);
    const std::optional<double> place = PlaceOf(run, i, against);
    if (!value || !place) continue;
    if (!best || (lower ? *value < *best : *value > *best)) best = value;
    points.push_back({*place, *best});
  }
  return points;
}

// The ends of a group's runs, one dot each.
Series EndsOf(const RecipeGroup& group, const std::vector<Series>& lines, const Series& style) {
  Series ends = style;
  ends.name = group.name + ", ends";
  ends.legend = "";
  ends.mark = Mark::kPoints;
  for (const Series& line : lines) {
    ends.points.push_back(line.points.back());
  }
  return ends;
}

void AddGroup(const Sweep& sweep, size_t i, Against against, Figure& figure) {
  const RecipeGroup& group = sweep.groups[i];
  Series style{.name = group.name};
  StyleLine(i, sweep.groups.size(), "groups", style);
  style.thin = true;
  std::vector<Series> lines;
  for (const size_t run : group.runs) {
    if (!sweep.data.front().results[run]) continue;  // validated on other data
    Series line = style;
    line.points = BestSoFar(sweep.input.runs[run], sweep.data.front().measure, against);
    if (line.points.empty()) continue;
    if (!lines.empty()) line.legend = "";
    line.name = fmt::format("{}: {}", group.name, sweep.input.runs[run].name);
    if (lines.empty() && !line.legend) line.legend = group.name;
    lines.push_back(std::move(line));
  }
  if (lines.empty()) return;
  Series ends = EndsOf(group, lines, style);
  for (Series& line : lines) figure.series.push_back(std::move(line));
  figure.series.push_back(std::move(ends));
}

Figure ProgressFigure(const Sweep& sweep, Against against) {
  const bool steps = against == Against::kSteps;
  const std::string& measure = sweep.data.front().measure;
  Figure figure{
      .name = steps ? "best-by-steps" : "best-by-seconds",
      .title = fmt::format("{} by {}", measure, steps ? "steps" : "seconds"),
      .description =
          fmt::format("Each line is a run's best validation so far, its dot the end of "
                      "the run{}.",
                      steps ? "" : "; seconds are those of steps, validations and mining"),
      .x = {.label = steps ? "step" : "seconds", .column = steps ? "step" : "seconds", .low = 0},
      .y = {.label = measure, .column = "best_so_far"}};
  for (size_t i = 0; i < sweep.groups.size(); ++i) AddGroup(sweep, i, against, figure);
  if (sweep.groups.size() == 1) {
    for (Series& series : figure.series) series.legend = "";
  }
  return figure;
}

// What a group's runs have of a number: its mean, and the lowest and highest below it.
PageCell RangeCell(const std::vector<double>& values,
                   const std::function<std::string(double)>& text) {
  if (values.empty()) return TextCell("-");
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  PageCell cell{.text = text(mean), .sort_value = mean};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  if (*low != *high) cell.note = fmt::format("{}–{}", text(*low), text(*high));
  return cell;
}

struct BestFacts {
  std::vector<double> steps, seconds, shares;
};

BestFacts FactsOf(const Sweep& sweep, const RecipeGroup& group) {
  BestFacts facts;
  for (const size_t i : group.runs) {
    if (!sweep.data.front().results[i]) continue;
    const RunRecord& run = sweep.input.runs[i];
    const ValidationRow* const best = run.log.BestValidation();
    if (best == nullptr) continue;
    facts.steps.push_back(static_cast<double>(best->step));
    if (run.seconds_to_best) facts.seconds.push_back(*run.seconds_to_best);
    if (run.log.step > 0) {
      facts.shares.push_back(static_cast<double>(best->step) / static_cast<double>(run.log.step));
    }
  }
  return facts;
}

PageTable StepTable(const Sweep& sweep) {
  const SweepData& data = sweep.data.front();
  PageTable table{.caption =
                      "The best validation of each group's runs (means; the lowest and the "
                      "highest of its seeds)",
                  .columns = {{"Group"},
                              {data.measure, true, true},
                              {"At step", true},
                              {"Time to it", true},
                              {"Share of the run", true}},
                  .sortable = true};
  const auto whole = [](double value) { return GroupedCount(static_cast<int64_t>(value + 0.5)); };
  for (const RecipeGroup& group : sweep.groups) {
    const BestFacts facts = FactsOf(sweep, group);
    table.rows.push_back({ForeignCell(group.name),
                          MeanCell(ValueOf(data, group), ResultsOf(data, group)),
                          RangeCell(facts.steps, whole), RangeCell(facts.seconds, DurationText),
                          RangeCell(facts.shares, [](double share) { return Percent(share, 0); })});
  }
  return table;
}

void SayWhoIsElsewhere(const Sweep& sweep, Page& page) {
  size_t others = 0;
  for (const size_t run : sweep.RunsThatAre(RunState::kFinished)) {
    const bool validated = sweep.input.runs[run].log.BestValidation() != nullptr;
    if (validated && !sweep.data.front().results[run]) ++others;
  }
  if (others == 0) return;
  page.Paragraph(fmt::format(
      "{} validated on other data or by another measure {} not here: {} values cannot be compared "
      "with these.",
      others == 1 ? "A run that was" : Counted(others, "run that was", "runs that were"),
      others == 1 ? "is" : "are", others == 1 ? "its" : "their"));
}

}  // namespace

void AddSweepSteps(const Sweep& sweep, Page& page) {
  if (sweep.groups.empty()) return;
  page.Section("steps", "Steps to the best", [&] {
    const SweepData& data = sweep.data.front();
    if (!data.validation || data.name.empty()) {
      page.Missing(
          fmt::format("No run was validated{}, so that nobody knows which step was the best.",
                      data.measure.empty() ? "" : " by " + data.measure));
      return;
    }
    AddLongTable(StepTable(sweep), page);
    SayWhoIsElsewhere(sweep, page);
    page.Figures([&] {
      for (const Against against : {Against::kSteps, Against::kSeconds}) {
        Figure figure = ProgressFigure(sweep, against);
        if (!figure.series.empty()) {
          page.AddFigure(std::move(figure));
        } else if (against == Against::kSeconds) {
          page.Missing("No figure by seconds: no run wrote down its times.");
        }
      }
    });
    page.Paragraph(
        "A best step at the run's end says that longer training may gain more; one at the "
        "beginning, "
        "that a lower learning rate or other data may.");
  });
}

}  // namespace tandem::report
