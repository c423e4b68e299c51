#include "tune/page/tune_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/files/files.h"
#include "report/page/page_parts.h"
#include "tune/choice/selection.h"
#include "tune/choice/soup.h"
#include "tune/page/journal_rows.h"
#include "tune/page/model_sections.h"
#include "tune/page/tune_cells.h"

namespace tandem::tune {
namespace {

using report::Page;
using report::PageCell;

// Why the choice is the choice, among the models that are seen to gain.
std::string WhyText(const Json& choice) {
  const Json* const chosen = ChosenOf(choice);
  if (chosen == nullptr) return "";
  size_t seen = 0;
  const Json* second = nullptr;
  for (const Json& arm : choice.at("arms")) {
    const bool gains = arm.at("allowed").get<bool>() && NumberOf(arm, "holm_p") < 0.05 &&
                       NumberOf(arm, "gain") > 0;
    if (!gains) continue;
    ++seen;
    if (&arm == chosen) continue;
    if (second == nullptr || NumberOf(arm, "gain") > NumberOf(*second, "gain")) second = &arm;
  }
  if (choice.at("arms").size() == 1) {
    return fmt::format("{} is the only model that may be chosen, and is seen to gain.",
                       chosen->at("name").text());
  }
  if (second == nullptr) {
    return fmt::format("{} is the only one of {} models that is seen to gain.",
                       chosen->at("name").text(), choice.at("arms").size());
  }
  return fmt::format(
      "{} has the largest gain of the {} models that are seen to gain; the next is "
      "{} with {:+.4f}. The test is against the base: between these two, the values "
      "of the validation queries decided.",
      chosen->at("name").text(), seen, second->at("name").text(), NumberOf(*second, "gain"));
}

// Where the model of the choice is, and how it is made beyond the recipe; "" without a choice.
std::string WhereText(const Rows& rows) {
  const Json* const chosen = ChosenOf(*rows.Find("choice"));
  if (chosen == nullptr) return "";
  const Json* const again = rows.Find("retrained");
  const double weight = NumberOf(*chosen, "weight");
  std::string text = fmt::format("The model is {} in the folder of this page.",
                                 (again != nullptr ? again : chosen)->at("model").text());
  if (const std::string trials = SoupText(*chosen); !trials.empty()) {
    text += fmt::format(
        " Its weights are the mean of those of {}; the recipe below is that of the best of them.{}",
        trials,
        weight < 1 ? fmt::format(" Of that mean it has {}, of the base the rest.", weight) : "");
  } else if (weight < 1) {
    text += fmt::format(
        " It is an average of the base's weights and a share of {} of those that the recipe below "
        "makes: `tandem average BASE MODEL --weight {} --output FOLDER`.",
        weight, weight);
  }
  if (again != nullptr) {
    text +=
        " It was trained again, on the validation queries too, to the last step of the run; what "
        "is said of validation queries is of the model before.";
  }
  return text;
}

void AddVerdict(const TunePageInput& input, const Rows& rows, Page& page) {
  page.Section("verdict", "Verdict", [&] {
    const Json& choice = *rows.Find("choice");
    page.html().In("p", [&] { page.html().Element("strong", choice.at("verdict").text()); });
    if (const std::string why = WhyText(choice); !why.empty()) page.Paragraph(why);
    if (const Json* const test = rows.Find("test")) {
      page.Paragraph(
          fmt::format("On {} test queries, looked at once, the choice has {} {:.4f} and the base "
                      "{:.4f} ({:+.4f} "
                      "+- {:.4f}, {}).",
                      test->at("queries").get<int64_t>(), input.measure, NumberOf(*test, "value"),
                      NumberOf(*test, "base"), NumberOf(*test, "gain"),
                      NumberOf(*test, "half_width"), ProbabilityText(NumberOf(*test, "p"))));
    } else if (choice.contains("chosen")) {
      page.Missing(
          "The choice was not measured on test data: tune.test names none. Its gain on the "
          "validation queries is a little too large, since the best of many was taken.");
    } else {
      page.Missing("Nothing was chosen, so that no test data were looked at.");
    }
    if (const std::string where = WhereText(rows); !where.empty()) page.Paragraph(where);
    if (input.recipe_text.empty()) return;
    page.Subheading("The recipe to copy");
    page.html().Element("pre", {{"tabindex", "0"}}, input.recipe_text);
  });
}

// The values of each trial at the lengths that it reached.
using TrialRows = std::map<int64_t, std::vector<const Json*>>;

TrialRows ByTrial(const Rows& rows) {
  TrialRows trials;
  for (const Json* row : rows.All("rung")) trials[row->at("trial").get<int64_t>()].push_back(row);
  for (const Json* row : rows.All("failed")) trials[row->at("trial").get<int64_t>()].push_back(row);
  return trials;
}

double ShareOf(const SearchPlan& plan, const Json& row, int64_t rungs) {
  const Bracket& bracket = plan.brackets[row.at("bracket").get<size_t>() - 1];
  return static_cast<double>(bracket.rungs[row.at("round").get<size_t>()].units) /
         static_cast<double>(FullUnits(rungs));
}

// The trials whose configurations were drawn by what others showed.
std::set<int64_t> DrawnTrials(const Rows& rows) {
  std::set<int64_t> trials;
  for (const Json* row : rows.All("draw")) trials.insert(row->at("trial").get<int64_t>());
  return trials;
}

// A configuration that left and is trained in full later has a second trial.
std::string HowDrawn(const SearchPlan& plan, const std::set<int64_t>& drawn, int64_t trial) {
  if (trial == 1) return "as given";
  if (!drawn.contains(trial)) return "at random";
  const auto& all = plan.configurations;
  const auto at = all.begin() + trial - 1;
  const auto first = std::find(all.begin(), at, *at);
  return first == at ? "by what was seen"
                     : fmt::format("trial {} again, in full", first - all.begin() + 1);
}

report::Figure RungFigure(const TunePageInput& input, const SearchPlan& plan,
                          const TrialRows& trials, const std::set<int64_t>& drawn) {
  report::Figure figure{.name = "lengths",
                        .title = "Trials by their lengths",
                        .description = "The best " + input.measure +
                                       " of each trial up to each length that it "
                                       "reached.",
                        .x = {.label = "share of the run", .column = "share", .low = 0, .high = 1},
                        .y = {.label = input.measure, .column = "value"}};
  for (const auto& [trial, rows] : trials) {
    report::Series series{.name = fmt::format("trial {}", trial),
                          .mark = report::Mark::kLineAndPoints};
    for (const Json* row : rows) {
      if (row->contains("why")) continue;
      series.points.push_back({ShareOf(plan, *row, input.rungs), NumberOf(*row, "value")});
    }
    series.colour = drawn.contains(trial) ? 1 : 0;
    if (!series.points.empty()) figure.series.push_back(std::move(series));
  }
  // A legend of many lines would hide them: it says what colours mean, and the table names each.
  std::set<size_t> named;
  for (report::Series& series : figure.series) {
    const bool first = named.insert(series.colour).second;
    series.legend = !first ? "" : series.colour == 1 ? "drawn by what was seen" : "drawn at random";
  }
  return figure;
}

void AddTrials(const TunePageInput& input, const SearchPlan& plan, const Rows& rows, Page& page) {
  const TrialRows trials = ByTrial(rows);
  const std::set<int64_t> drawn = DrawnTrials(rows);
  page.Section("trials", "Trials", [&] {
    page.Paragraph(
        "Of each length the best third goes on to three times that length; what is drawn by what "
        "was seen is trained in full. The values are the best "
        "of a trial's validations so far; p is of the paired test against the base, and decides "
        "nothing here. " +
        std::string(kBlankValues));
    const ConfigurationColumns configurations(plan);
    page.AddFigure(RungFigure(input, plan, trials, drawn));
    report::PageTable table{.caption = "All trials, at the longest length that each reached",
                            .columns = {{"trial"},
                                        {"drawn"},
                                        {"share of the run", true},
                                        {"steps", true},
                                        {input.measure, true, true},
                                        {"gain", true},
                                        {"p", true}},
                            .sortable = true};
    configurations.AddTo(table.columns);
    for (const auto& [trial, of_trial] : trials) {
      const Json& last = *of_trial.back();
      const auto number = [&last](std::string_view key) -> std::optional<double> {
        return last.contains(key) ? std::optional<double>(NumberOf(last, key)) : std::nullopt;
      };
      PageCell name = report::CountCell(trial);
      if (last.contains("why")) name.note = "cannot be trained: " + last.at("why").text();
      table.rows.push_back({std::move(name), report::TextCell(HowDrawn(plan, drawn, trial)),
                            report::NumberCell(ShareOf(plan, last, input.rungs), 2),
                            report::NumberCell(number("step"), 0),
                            report::NumberCell(number("value")), report::NumberCell(number("gain")),
                            ProbabilityCell(number("p"))});
      configurations.AddTo(table.rows.back(), std::span(&trial, 1));
    }
    page.AddTable(table);
  });
}

std::string ValuesText(const config::SearchKey& key) {
  if (key.values.empty()) {
    return fmt::format("from {} to {}{}", key.range.minimum, key.range.maximum,
                       key.logarithmic ? ", logarithmic" : "");
  }
  std::string text;
  for (const std::string& value : key.values) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", value.empty() ? "not set" : value);
  }
  return text;
}

void AddSpace(const TunePageInput& input, const SearchPlan& plan, Page& page) {
  page.Section("space", "What was searched", [&] {
    page.Paragraph(fmt::format(
        "{}, for {:.1f} times the training of one. The first is the recipe as it is.",
        TrialsText(plan),
        static_cast<double>(UnitsOf(plan.brackets)) / static_cast<double>(FullUnits(input.rungs))));
    report::PageTable table{.caption = "Keys", .columns = {{"key"}, {"values"}}};
    for (const config::SearchKey& key : input.keys) {
      table.rows.push_back({report::TextCell(key.path), report::ForeignCell(ValuesText(key))});
    }
    page.AddTable(table);
  });
}

}  // namespace

std::vector<report::ReportFile> MakeTunePage(const TunePageInput& input, const SearchPlan& plan,
                                             const std::vector<Json>& journal) {
  const Rows rows(journal);
  Page page;
  AddVerdict(input, rows, page);
  AddModels(input, plan, rows, page);
  AddBorder(input, rows, page);
  AddTrials(input, plan, rows, page);
  AddSpace(input, plan, page);
  std::vector<report::ReportFile> files = {
      {"tune.html",
       PageDocument({.title = input.title,
                     .subtitle = "A search for a recipe, by " + input.measure,
                     .generator = "tandem tune",
                     .footer = "Written by tandem tune. Each figure lies beside this page as "
                               "figures/NAME.tsv and figures/NAME.svg."},
                    page)}};
  files.insert(files.end(), page.files().begin(), page.files().end());
  return files;
}

void WriteTunePage(const SearchContext& search, const SearchPlan& plan) {
  const bool chosen = search.journal.Find("choice")->contains("chosen");
  const TunePageInput input{
      .title = std::filesystem::path(search.tune.recipe.file).filename().native(),
      .measure = search.measure(),
      .rungs = search.tune.tune.rungs,
      .keys = search.tune.tune.keys,
      .recipe_text = chosen ? ReadFile(search.folder.recipe()) : ""};
  for (const report::ReportFile& file : MakeTunePage(input, plan, search.journal.rows())) {
    const std::filesystem::path path = search.folder.path() / file.path;
    MakeFolder(path.parent_path());
    WriteFileAtomically(path, file.bytes);
  }
}

}  // namespace tandem::tune
