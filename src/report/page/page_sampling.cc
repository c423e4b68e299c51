// Shows what the sampler drew and left out.
#include <fmt/format.h>

#include <algorithm>

#include "report/page/page_parts.h"

namespace tandem::report {
namespace {

PageTable PassTable(const RunRecord& run) {
  PageTable table{.caption = "Epochs of " + run.name,
                  .columns = {{"Epoch"},
                              {"Batches", true},
                              {"Queries drawn", true},
                              {"Queries left out", true},
                              {"Mean score of those", true}}};
  for (const PassRow& pass : run.passes) {
    PageCell left_out = TextCell("under way");
    if (pass.left_out) left_out = CountCell(*pass.left_out);
    table.rows.push_back({TextCell(fmt::format("{}", pass.pass)), CountCell(pass.batches),
                          CountCell(pass.queries), std::move(left_out),
                          NumberCell(pass.mean_score_left_out)});
  }
  return table;
}

Figure DrawsFigure(const RunRecord& run, size_t colour) {
  Figure figure{.name = "draws",
                .title = "How often queries were drawn, " + run.name,
                .description = "Training queries by the number of times that the epochs drew them.",
                .x = {.label = "queries", .column = "queries"},
                .y = {.label = "", .column = "times_drawn"}};
  Series series{.mark = Mark::kBars, .colour = colour};
  for (size_t i = 0; i < run.queries_by_draws.size(); ++i) {
    figure.categories.push_back(i == 0 ? "never" : i == 1 ? "once" : fmt::format("{} times", i));
    series.points.push_back({static_cast<double>(run.queries_by_draws[i]), static_cast<double>(i)});
  }
  if (run.queries_by_draws.size() == kMostDraws + 1) figure.categories.back() += " or more";
  figure.series.push_back(std::move(series));
  return figure;
}

}  // namespace

void AddSampling(const ReportInput& input, Page& page) {
  if (input.runs.empty()) return;
  page.Section("sampling", "What training saw", [&] {
    for (size_t i = 0; i < input.runs.size(); ++i) {
      const RunRecord& run = input.runs[i];
      if (run.passes.empty()) {
        page.Paragraph(run.name + ": the sampler leaves nothing out and keeps no records.");
        continue;
      }
      page.AddTable(PassTable(run));
      if (!run.queries_by_draws.empty()) {
        page.Figures([&] { page.AddFigure(DrawsFigure(run, ColourOf(i, input.runs.size()))); });
      }
    }
  });
}

}  // namespace tandem::report
