// Describes the run: recipe, data, models, machine; the time of its parts; memory.
#include <fmt/format.h>

#include <algorithm>

#include "base/byte_size.h"
#include "report/page/page_parts.h"
#include "report/records/same_data.h"
#include "report/tables/numbers.h"

namespace tandem::report {
namespace {

// Facts of several runs as one table: a row for each name, a column for each run.
PageTable FactTable(const ReportInput& input, std::string caption,
                    std::vector<Fact> RunRecord::*facts) {
  PageTable table{.caption = std::move(caption), .columns = {{"What"}}};
  std::vector<std::string> names;
  for (const RunRecord& run : input.runs) {
    table.columns.push_back({run.name});
    for (const Fact& fact : run.*facts) {
      if (std::find(names.begin(), names.end(), fact.name) == names.end()) {
        names.push_back(fact.name);
      }
    }
  }
  for (const std::string& name : names) {
    std::vector<PageCell> row = {TextCell(name)};
    for (const RunRecord& run : input.runs) {
      const auto found = std::find_if((run.*facts).begin(), (run.*facts).end(),
                                      [&](const Fact& fact) { return fact.name == name; });
      row.push_back(found == (run.*facts).end() ? TextCell("-") : ForeignCell(found->value));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

void AddFacts(const ReportInput& input, std::string caption, std::vector<Fact> RunRecord::*facts,
              Page& page) {
  const PageTable table = FactTable(input, std::move(caption), facts);
  if (!table.rows.empty()) page.AddTable(table);
}

void AddModels(const ReportInput& input, Page& page) {
  PageTable table{.caption = "Models and what they were measured on",
                  .columns = {{"Evaluation"},
                              {"Model"},
                              {"Parameters", true},
                              {"Precision"},
                              {"Data set"},
                              {"Queries", true},
                              {"Documents", true}}};
  for (const LabelledEvaluation& one : input.evaluations) {
    const ModelFacts& model = one.record.model;
    const DatasetFacts& dataset = one.record.dataset;
    table.rows.push_back({ForeignCell(one.label), ForeignCell(model.name),
                          model.parameters ? CountCell(*model.parameters) : TextCell("-"),
                          ForeignCell(model.precision.empty() ? "-" : model.precision),
                          ForeignCell(DataName(dataset)), CountCell(dataset.queries),
                          CountCell(dataset.documents)});
  }
  page.AddTable(table);
}

void AddRecipes(const ReportInput& input, Page& page) {
  for (const RunRecord& run : input.runs) {
    if (run.recipe_text.empty()) continue;
    page.html().In("details", [&] {
      page.html().Element("summary", "The whole recipe of " + run.name);
      page.html().Element("pre", {{"tabindex", "0"}}, run.recipe_text);
    });
  }
}

Figure TimeFigure(const RunRecord& run, size_t colour) {
  Figure figure{.name = "time",
                .title = "Where the time went, " + run.name,
                .description = "Seconds of each part of the run, the longest first.",
                .x = {.label = "seconds", .column = "seconds"},
                .y = {.label = "", .column = "part"}};
  Series series{.mark = Mark::kBars, .colour = colour};
  for (const TimePart& part : run.times) {
    series.points.push_back({part.seconds, static_cast<double>(figure.categories.size())});
    figure.categories.push_back(part.name);
  }
  figure.series.push_back(std::move(series));
  return figure;
}

PageTable TimeTable(const RunRecord& run) {
  PageTable table{.caption = "Parts of the time of " + run.name,
                  .columns = {{"Part"}, {"Time", true}, {"Share", true}}};
  double sum = 0;
  for (const TimePart& part : run.times) sum += part.seconds;
  for (const TimePart& part : run.times) {
    table.rows.push_back({TextCell(part.name),
                          {.text = DurationText(part.seconds), .sort_value = part.seconds},
                          {.text = Percent(sum > 0 ? part.seconds / sum : 0)}});
  }
  return table;
}

}  // namespace

void AddWhatWasRun(const ReportInput& input, Page& page) {
  page.Section("run", "What was run", [&] {
    if (input.runs.empty()) {
      page.Paragraph("No run folder was given: this page compares models.");
    } else {
      AddFacts(input, "Recipe, as it was resolved", &RunRecord::recipe, page);
      AddFacts(input, "Machine and versions", &RunRecord::machine, page);
      AddRecipes(input, page);
    }
    if (!input.evaluations.empty()) AddModels(input, page);
    for (const RunRecord& run : input.runs) {
      for (const std::string& sentence : run.missing) page.Missing(sentence);
    }
  });
}

void AddTimeAndMemory(const ReportInput& input, Page& page) {
  if (input.runs.empty()) return;
  page.Section("time", "Time and memory", [&] {
    for (size_t i = 0; i < input.runs.size(); ++i) {
      const RunRecord& run = input.runs[i];
      if (run.times.empty()) {
        page.Missing(fmt::format("{}: no times: timing.jsonl has none.", run.name));
      } else {
        page.Figures([&] {
          page.AddFigure(TimeFigure(run, ColourOf(i, input.runs.size())));
          page.AddTable(TimeTable(run));
        });
      }
      if (run.most_memory_bytes) {
        page.Paragraph(fmt::format("{} held at most {} of memory.", run.name,
                                   FormatByteSize(static_cast<uint64_t>(*run.most_memory_bytes))));
      } else {
        page.Missing(fmt::format("{}: the run did not write down its memory.", run.name));
      }
    }
  });
}

}  // namespace tandem::report
