#include "tune/page/model_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tune/page/tune_cells.h"

namespace tandem::tune {
namespace {

using report::Page;
using report::PageCell;

PageCell GainCell(const Json& row) {
  const double gain = NumberOf(row, "gain"), half = NumberOf(row, "half_width");
  return {.text = fmt::format("{:+.4f}", gain),
          .note = fmt::format("[{:.4f}, {:.4f}]", gain - half, gain + half),
          .sort_value = gain};
}

// The trials whose weights an arm has.
std::vector<int64_t> TrialsOf(const Json& arm) {
  std::vector<int64_t> all;
  const Json* const trials = arm.Find("trials");
  if (trials == nullptr) return {arm.at("trial").get<int64_t>()};
  for (const Json& trial : *trials) all.push_back(trial.get<int64_t>());
  return all;
}

// The means of weights that were tried, in their order.
void AddSoup(const TunePageInput& input, const Rows& rows, Page& page) {
  const std::vector<const Json*> tried = rows.All("soup");
  if (tried.empty()) return;
  page.Paragraph(
      "The soup begins with the best trial; each further one joins where the mean of all weights, "
      "in equal shares, does at least as well. Its p is too small, since it is the best of many "
      "means: "
      "it may be chosen only where the best trial is seen to gain too.");
  report::PageTable table{
      .caption = "The soup",
      .columns = {{"with trial"}, {input.measure + " of the mean", true}, {"joins"}}};
  for (const Json* row : tried) {
    const bool measured = row->contains("value");
    PageCell name = report::CountCell(row->at("trial").get<int64_t>());
    if (!measured) name.note = "cannot be averaged: " + row->at("why").text();
    table.rows.push_back(
        {std::move(name),
         report::NumberCell(measured ? std::optional(NumberOf(*row, "value")) : std::nullopt),
         report::TextCell(measured && row->at("joins").get<bool>() ? "yes" : "no")});
  }
  page.AddTable(table);
}

}  // namespace

void AddModels(const TunePageInput& input, const SearchPlan& plan, const Rows& rows, Page& page) {
  const Json& choice = *rows.Find("choice");
  page.Section("models", "Models that may be chosen", [&] {
    page.Paragraph(fmt::format(
        "All that were trained in full, and averages of weights, beside the base ({} {:.4f} on {} "
        "queries). p is of the paired randomisation test, corrected by Holm's method. {}",
        input.measure, NumberOf(choice, "base"), choice.at("queries").get<int64_t>(),
        kBlankValues));
    const ConfigurationColumns configurations(plan);
    std::vector<const Json*> arms;
    for (const Json& arm : choice.at("arms")) arms.push_back(&arm);
    std::stable_sort(arms.begin(), arms.end(), [](const Json* a, const Json* b) {
      return NumberOf(*a, "gain") > NumberOf(*b, "gain");
    });
    const bool keeps = !arms.empty() && arms.front()->contains("loss");
    report::PageTable table{.caption = "Models",
                            .columns = {{"model"},
                                        {input.measure, true},
                                        {"gain", true, true},
                                        {"p", true},
                                        {"corrected p", true}},
                            .sortable = true};
    if (keeps) table.columns.insert(table.columns.end(), {{"loss elsewhere", true}, {"border"}});
    configurations.AddTo(table.columns);
    const Json* const chosen = ChosenOf(choice);
    for (const Json* const arm : arms) {
      PageCell name = report::TextCell(arm->at("name").text());
      name.best = arm == chosen;
      if (name.best) name.note = "the choice";
      table.rows.push_back({name, report::NumberCell(NumberOf(*arm, "value")), GainCell(*arm),
                            ProbabilityCell(NumberOf(*arm, "p")),
                            ProbabilityCell(NumberOf(*arm, "holm_p"))});
      if (keeps) {
        table.rows.back().push_back(report::NumberCell(NumberOf(*arm, "loss")));
        table.rows.back().push_back(
            report::TextCell(arm->at("on_border").get<bool>() ? "yes" : ""));
      }
      configurations.AddTo(table.rows.back(), TrialsOf(*arm));
    }
    page.AddTable(table);
    AddSoup(input, rows, page);
  });
}

void AddBorder(const TunePageInput& input, const Rows& rows, Page& page) {
  const Json& choice = *rows.Find("choice");
  report::Figure figure{
      .name = "border",
      .title = "Gain and loss",
      .description =
          "Each model's gain on the validation queries, and the most that it loses on a "
          "sentinel set; no other model beats those on the border in both.",
      .x = {.label = "largest loss on a sentinel set", .column = "loss"},
      .y = {.label = "gain in " + input.measure, .column = "gain"}};
  std::vector<report::Series> series = {{.name = "border", .mark = report::Mark::kLineAndPoints},
                                        {.name = "others",
                                         .mark = report::Mark::kPoints,
                                         .points = {},
                                         .dashed = false,
                                         .colour = 1}};
  std::vector<const Json*> arms;
  for (const Json& arm : choice.at("arms")) {
    if (!arm.contains("loss")) return;
    arms.push_back(&arm);
  }
  std::stable_sort(arms.begin(), arms.end(), [](const Json* a, const Json* b) {
    return NumberOf(*a, "loss") < NumberOf(*b, "loss");
  });
  for (const Json* const arm : arms) {
    report::Series& of = series[arm->at("on_border").get<bool>() ? 0 : 1];
    of.points.push_back({NumberOf(*arm, "loss"), NumberOf(*arm, "gain")});
    if (&of == &series[0]) of.names.push_back(arm->at("name").text());
  }
  for (report::Series& one : series) {
    if (!one.points.empty()) figure.series.push_back(std::move(one));
  }
  page.Section("border", "What is lost elsewhere", [&] {
    report::PageTable table{.caption = input.measure + " on the sentinel sets",
                            .columns = {{"model"}, {"data set"}, {input.measure, true, true}}};
    for (const Json* row : rows.All("keep")) {
      table.rows.push_back({report::TextCell(row->at("model").text()),
                            report::ForeignCell(row->at("folder").text()),
                            report::NumberCell(NumberOf(*row, "value"))});
    }
    page.AddFigure(std::move(figure));
    page.AddTable(table);
  });
}

}  // namespace tandem::tune
