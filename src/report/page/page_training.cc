// Curves of the loss and of validation, and the best step.
#include <fmt/format.h>

#include <algorithm>

#include "report/page/page_parts.h"
#include "report/page/validation_words.h"
#include "report/tables/numbers.h"

namespace tandem::report {
namespace {

// The value of a measure; none where the validation did not measure it.
std::optional<double> ValueOf(const ValidationRow& row, const std::string& measure) {
  for (const NamedNumber& number : row.measures) {
    if (number.name == measure) return number.AsDouble();
  }
  return std::nullopt;
}

std::string SeriesName(const ReportInput& input, const RunRecord& run) {
  return input.runs.size() > 1 ? run.name : "";
}

// A line through a few points hides them, and one through a single point is none.
Mark MarkOf(const RunRecord& run) {
  constexpr size_t kFew = 30;
  return run.log.steps.size() <= kFew ? Mark::kLineAndPoints : Mark::kLine;
}

Figure LossFigure(const ReportInput& input) {
  Figure figure{.name = "loss",
                .title = "Training loss",
                .description = "Mean loss of the steps since the point before.",
                .x = {.label = "step", .column = "step", .low = 0},
                .y = {.label = "loss", .column = "loss"}};
  for (size_t i = 0; i < input.runs.size(); ++i) {
    Series series{.name = SeriesName(input, input.runs[i]),
                  .mark = MarkOf(input.runs[i]),
                  .colour = ColourOf(i, input.runs.size())};
    for (const StepRow& point : input.runs[i].log.steps) {
      series.points.push_back({static_cast<double>(point.step), point.loss});
    }
    figure.series.push_back(std::move(series));
  }
  return figure;
}

Figure LearningRateFigure(const ReportInput& input) {
  Figure figure = LossFigure(input);
  figure.name = "learning-rate";
  figure.title = "Learning rate";
  figure.description = "As the schedule gave it.";
  figure.y = {.label = "learning rate", .column = "learning_rate", .low = 0};
  for (size_t i = 0; i < input.runs.size(); ++i) {
    for (size_t j = 0; j < input.runs[i].log.steps.size(); ++j) {
      figure.series[i].points[j][1] = input.runs[i].log.steps[j].learning_rate;
    }
  }
  return figure;
}

// One figure for each measure that a run was validated by.
std::vector<std::string> MeasuresOf(const ReportInput& input) {
  std::vector<std::string> names;
  for (const RunRecord& run : input.runs) {
    for (const ValidationRow& row : run.log.validations) {
      for (const NamedNumber& number : row.measures) {
        if (std::find(names.begin(), names.end(), number.name) == names.end()) {
          names.push_back(number.name);
        }
      }
    }
  }
  return names;
}

Figure ValidationFigure(const ReportInput& input, const std::string& measure) {
  Figure figure{.name = "validation",
                .title = "Validation: " + measure,
                .description = "Step 0 is the model before training." + BesideMeasures(input),
                .x = {.label = "step", .column = "step", .low = 0},
                .y = {.label = measure, .column = "value"}};
  for (size_t i = 0; i < input.runs.size(); ++i) {
    Series series{.name = SeriesName(input, input.runs[i]),
                  .mark = Mark::kLineAndPoints,
                  .colour = ColourOf(i, input.runs.size())};
    for (const ValidationRow& row : input.runs[i].log.validations) {
      if (const std::optional<double> value = ValueOf(row, measure)) {
        series.points.push_back({static_cast<double>(row.step), *value});
      }
    }
    figure.series.push_back(std::move(series));
  }
  if (input.runs.size() == 1) {
    const ValidationRow* best = input.runs.front().log.BestValidation();
    if (best != nullptr && ValueOf(*best, measure)) {
      figure.vertical = static_cast<double>(best->step);
      figure.note = fmt::format("Dashed: the best validation, at step {}.", best->step);
    }
  }
  return figure;
}

PageTable BestTable(const ReportInput& input) {
  PageTable table{.caption = "The best validation of each run",
                  .columns = {{"Run"},
                              {"Steps", true},
                              {"Measure"},
                              {"Before", true},
                              {"Best", true, true},
                              {"At step", true},
                              {"Time to it", true},
                              {"Saved model's step", true}}};
  for (const RunRecord& run : input.runs) {
    const ValidationRow* best = run.log.BestValidation();
    std::vector<PageCell> row = {ForeignCell(run.name), CountCell(run.log.step)};
    if (best == nullptr || best->measures.empty()) {
      row.resize(7, TextCell("-"));
    } else {
      // The first measure is the one that decides.
      const NamedNumber& value = best->measures.front();
      const ValidationRow& first = run.log.validations.front();
      row.push_back(ForeignCell(value.name));
      row.push_back(NumberCell(first.step == 0 ? ValueOf(first, value.name) : std::nullopt));
      row.push_back(NumberCell(value.AsDouble()));
      row.push_back(CountCell(best->step));
      row.push_back(run.seconds_to_best ? PageCell{.text = DurationText(*run.seconds_to_best),
                                                   .sort_value = run.seconds_to_best}
                                        : TextCell("-"));
    }
    row.push_back(run.log.finished ? CountCell(run.log.finished->model_step) : TextCell("-"));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

void AddTraining(const ReportInput& input, Page& page) {
  if (input.runs.empty()) return;
  page.Section("training", "How training went", [&] {
    page.AddTable(BestTable(input));
    const bool has_lines = std::any_of(input.runs.begin(), input.runs.end(),
                                       [](const RunRecord& run) { return !run.log.steps.empty(); });
    page.Figures([&] {
      if (has_lines) page.AddFigure(LossFigure(input));
      for (const std::string& measure : MeasuresOf(input)) {
        page.AddFigure(ValidationFigure(input, measure));
      }
      if (has_lines) page.AddFigure(LearningRateFigure(input));
    });
    for (const RunRecord& run : input.runs) {
      if (run.log.steps.empty()) page.Missing(run.name + ": no line of training yet.");
      if (run.log.validations.empty()) {
        page.Missing(run.name + ": no validation, so nobody knows which step was the best.");
      }
      if (!run.log.finished) page.Missing(run.name + ": the run has not finished.");
    }
  });
}

}  // namespace tandem::report
