// The page of many runs: its sections, those of a page of few runs for the best models among them,
// and recipes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "report/sweep/sweep_parts.h"

namespace tandem::report {
namespace {

// Groups whose best run has its curves, histograms and views on the page.
constexpr size_t kMostModels = 4;

// The best run of a group.
size_t BestRunOf(const Sweep& sweep, const RecipeGroup& group) {
  const SweepData& data = sweep.data.front();
  const bool lower = LowerIsBetter(data.measure);
  size_t best = group.runs.front();
  for (const size_t run : group.runs) {
    const std::optional<RunResult>& one = data.results[run];
    const std::optional<RunResult>& most = data.results[best];
    if (one && (!most || (lower ? one->value < most->value : one->value > most->value))) best = run;
  }
  return best;
}

// The evaluations of the best runs of the first groups, and those that are of no run: bases first,
// with which the others are compared, then those of the best group, the next one, and so on. They
// have the names of their groups.
ReportInput InputOfModels(const Sweep& sweep) {
  ReportInput few{.title = sweep.input.title, .seed = sweep.input.seed};
  std::vector<size_t> chosen;
  std::map<size_t, std::string> labels;
  std::ptrdiff_t bases = 0;
  for (size_t i = 0; i < std::min(kMostModels, sweep.groups.size()); ++i) {
    const size_t run = BestRunOf(sweep, sweep.groups[i]);
    for (const RunsEvaluation& one : sweep.input.of_runs) {
      const bool is_there = std::find(chosen.begin(), chosen.end(), one.evaluation) != chosen.end();
      if (one.run != run || is_there) continue;
      // Bases, of which runs share one, stay before all others.
      const bool base = one.name == "before";
      chosen.insert(base ? chosen.begin() + bases++ : chosen.end(), one.evaluation);
      if (base) continue;
      labels[one.evaluation] = sweep.groups[i].name;
      if (one.name != "after") labels[one.evaluation] += ": " + one.name;
    }
  }
  for (size_t i = 0; i < sweep.input.evaluations.size(); ++i) {
    const bool of_a_run =
        std::any_of(sweep.input.of_runs.begin(), sweep.input.of_runs.end(),
                    [&](const RunsEvaluation& one) { return one.evaluation == i; });
    if (!of_a_run) chosen.push_back(i);
  }
  for (const size_t i : chosen) {
    few.evaluations.push_back(sweep.input.evaluations[i]);
    if (labels.contains(i)) few.evaluations.back().label = labels[i];
  }
  return few;
}

PageTable CommonKeys(const Sweep& sweep) {
  PageTable table{.caption = "What the recipes of all finished runs have alike",
                  .columns = {{"Key"}, {"Value"}}};
  for (const auto& [path, value] : sweep.groups.front().keys) {
    const auto same = [&, key = path, here = value](const RecipeGroup& group) {
      const KeyValue* const there = ValueIn(group, key);
      return there != nullptr && *there == here;
    };
    if (!std::all_of(sweep.groups.begin(), sweep.groups.end(), same)) continue;
    table.rows.push_back({TextCell(path), ForeignCell(value.text)});
  }
  return table;
}

}  // namespace

void AddSweepModels(const Sweep& sweep, Page& page) {
  if (sweep.input.evaluations.empty()) return;
  const ReportInput few = InputOfModels(sweep);
  if (few.evaluations.size() < sweep.input.evaluations.size()) {
    page.Note(fmt::format(
        "Below, curves, histograms and views are those of the best run of each of the first {} "
        "groups ({} of {} evaluations).",
        std::min(kMostModels, sweep.groups.size()), few.evaluations.size(),
        sweep.input.evaluations.size()));
  }
  AddDiscrimination(few, page);
  AddViews(few, page);
}

// Groups whose samplers keep records, the best first, those before the others that have a picture
// of what their sampler preferred. Samplers that leave nothing out are passed over.
void AddSweepSampling(const Sweep& sweep, Page& page) {
  std::vector<const RecipeGroup*> groups;
  const auto run_of = [&](const RecipeGroup* group) -> const RunRecord& {
    return sweep.input.runs[BestRunOf(sweep, *group)];
  };
  for (const RecipeGroup& group : sweep.groups) {
    const RunRecord& run = run_of(&group);
    if (!run.passes.empty() || run.damaged_passes > 0) groups.push_back(&group);
  }
  std::stable_partition(groups.begin(), groups.end(), [&](const RecipeGroup* group) {
    return run_of(group).draws_by_score.has_value();
  });
  ReportInput few;
  std::vector<std::string> left_out;
  for (const RecipeGroup* group : groups) {
    if (few.runs.size() < kMostModels) {
      few.runs.push_back(run_of(group));
    } else {
      left_out.push_back(group->name);
    }
  }
  if (few.runs.empty()) return;
  if (!left_out.empty()) {
    page.Note(
        fmt::format("What training saw stands below for the best run of each of {} groups "
                    "whose samplers keep records; {} left out: {}.",
                    few.runs.size(), left_out.size() == 1 ? "one is" : "others are",
                    fmt::join(left_out, "; ")));
  }
  AddSampling(few, page);
}

void AddSweepRecipes(const Sweep& sweep, Page& page) {
  if (sweep.groups.empty()) return;
  page.Section("run", "What was run", [&] {
    const RunRecord& best = sweep.input.runs[BestRunOf(sweep, sweep.groups.front())];
    page.html().In("details", [&] {
      page.html().Element("summary",
                          "The whole recipe of " + best.name + ", the best group's best run");
      page.html().Element("pre", {{"tabindex", "0"}}, best.recipe_text);
    });
    page.html().In("details", [&] {
      page.html().Element("summary", "What all recipes have alike");
      page.AddTable(CommonKeys(sweep));
    });
  });
}

std::vector<ReportFile> MakeSweepReport(const Sweep& sweep) {
  Page page;
  AddSweepSummary(sweep, page);
  AddSweepGroups(sweep, page);
  AddSweepKeys(sweep, page);
  AddSweepGains(sweep, page);
  AddSweepSteps(sweep, page);
  AddSweepModels(sweep, page);
  AddSweepSampling(sweep, page);
  AddSweepRecipes(sweep, page);
  AddWords(sweep.input, page);
  const PageFrame frame{
      .title = sweep.input.title,
      .subtitle = fmt::format("{} in {}", Counted(sweep.input.runs.size(), "run", "runs"),
                              Counted(sweep.groups.size(), "group", "groups")),
      .generator = "tandem report",
      .footer =
          "Written by tandem report. Each figure lies beside this page as figures/NAME.tsv "
          "and figures/NAME.svg."};
  std::vector<ReportFile> files = {{"index.html", PageDocument(frame, page)}};
  files.insert(files.end(), page.files().begin(), page.files().end());
  return files;
}

}  // namespace tandem::report
