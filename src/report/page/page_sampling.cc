// Shows what the sampler drew and left out.
#include <fmt/format.h>

#include <algorithm>

#include "report/page/page_parts.h"
#include "report/tables/numbers.h"

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
  if (run.damaged_passes > 0) {
    figure.note = fmt::format(
        "Without the draws of {} whose records are damaged.",
        run.damaged_passes == 1 ? "one epoch" : fmt::format("{} epochs", run.damaged_passes));
  }
  figure.series.push_back(std::move(series));
  return figure;
}

std::string BinName(const ScoreBin& bin) {
  return bin.low == bin.high ? Fixed(bin.low, 2)
                             : fmt::format("{} to {}", Fixed(bin.low, 2), Fixed(bin.high, 2));
}

// Epochs from left to right, queries with the highest first scores at the top.
Figure DrawsByScoreFigure(const RunRecord& run, const DrawsByScore& draws) {
  Figure figure{.name = "draws-by-score",
                .title = "Who was drawn, by the first score, " + run.name,
                .description =
                    "Queries in tenths by the score that they had before training, the "
                    "highest at the top; darker: expected to be drawn more often in that "
                    "epoch.",
                .x = {.label = "epoch", .column = "epoch"},
                .y = {.label = "", .column = "first_score"},
                .shade_column = "expected_draws"};
  Series cells{.mark = Mark::kCells, .colour = 1};
  double most = 0;
  for (size_t row = 0; row < draws.bins.size(); ++row) {
    const size_t bin = draws.bins.size() - 1 - row;
    figure.categories.push_back(BinName(draws.bins[bin]));
    for (size_t pass = 0; pass < draws.passes.size(); ++pass) {
      // Epochs that the page leaves out leave no gap.
      cells.points.push_back({static_cast<double>(pass), static_cast<double>(row)});
      cells.shades.push_back(draws.expected[pass][bin]);
      most = std::max(most, cells.shades.back());
    }
  }
  for (size_t pass = 0; pass < draws.passes.size(); ++pass) {
    figure.x.marks.push_back(static_cast<double>(pass));
  }
  figure.note = fmt::format(
      "White is never, the darkest cell {} draws of a query in an epoch, as "
      "the sampler saw it when the epoch began.",
      Fixed(most, 2));
  if (draws.passes.back() != static_cast<int64_t>(draws.passes.size()) - 1) {
    figure.note += " Columns are the first epoch and the newest ones, numbered from 0.";
  }
  figure.series.push_back(std::move(cells));
  return figure;
}

std::string WhyNoFirstScores(const RunRecord& run) {
  if (run.first_scores_damaged) {
    return run.name + ": the file of the scores that queries had before training is damaged.";
  }
  return run.name +
         ": the scores that queries had before training were not recorded; samplers that go by "
         "none have none, and earlier versions did not keep them.";
}

}  // namespace

void AddSampling(const ReportInput& input, Page& page) {
  if (input.runs.empty()) return;
  page.Section("sampling", "What training saw", [&] {
    for (size_t i = 0; i < input.runs.size(); ++i) {
      const RunRecord& run = input.runs[i];
      if (run.passes.empty()) {
        page.Paragraph(run.name + (run.damaged_passes > 0
                                       ? ": the records of all epochs are damaged."
                                       : ": the sampler leaves nothing out and keeps no records."));
        continue;
      }
      page.AddTable(PassTable(run));
      if (!run.queries_by_draws.empty()) {
        page.Figures([&] {
          page.AddFigure(DrawsFigure(run, ColourOf(i, input.runs.size())));
          if (run.draws_by_score) page.AddFigure(DrawsByScoreFigure(run, *run.draws_by_score));
        });
      }
      if (!run.draws_by_score) page.Paragraph(WhyNoFirstScores(run));
    }
  });
}

}  // namespace tandem::report
