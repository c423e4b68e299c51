// The gain of each group over its base, data set by data set.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "report/sweep/sweep_parts.h"
#include "report/tables/numbers.h"

namespace tandem::report {
namespace {

constexpr size_t kMostBars = 24;

struct Gain {
  const RecipeGroup* group = nullptr;
  GroupMean mean;
};

// The largest gain first.
std::vector<Gain> GainsOf(const Sweep& sweep, const SweepData& data) {
  std::vector<Gain> gains;
  for (const RecipeGroup& group : sweep.groups) {
    const GroupMean mean = GainOf(data, group);
    if (mean) gains.push_back({&group, mean});
  }
  std::stable_sort(gains.begin(), gains.end(),
                   [](const Gain& a, const Gain& b) { return a.mean->mean > b.mean->mean; });
  return gains;
}

Tone ToneOf(const GroupMean& gain) {
  if (!gain->interval) return Tone::kPalette;
  if (gain->interval->low > 0) return Tone::kGood;
  return gain->interval->high < 0 ? Tone::kBad : Tone::kPalette;
}

// Leaves the best and the worst ones, as many of both.
void Shorten(std::vector<Gain>& gains, Figure& figure) {
  if (gains.size() <= kMostBars) return;
  const auto half = static_cast<std::ptrdiff_t>(kMostBars / 2);
  figure.note = fmt::format("The {} best and the {} worst of {} groups; the table has all.",
                            kMostBars / 2, kMostBars / 2, gains.size());
  gains.erase(gains.begin() + half, gains.end() - half);
}

// What a gain is over: a validation's is over that of the model with which training began, an
// evaluation's over the base as its folder holds it.
std::string_view BaseWords(const SweepData& data) {
  return data.validation ? "the start of training" : "the base model";
}

Figure GainFigure(const Sweep& sweep, const SweepData& data) {
  Figure figure{
      .name = "gain",
      .title = fmt::format("Gain in {} over {}", data.measure, BaseWords(data)),
      .description = fmt::format("Means over seeds with 95 % intervals, {}. A colour where "
                                 "the interval leaves out 0.",
                                 data.Words()),
      .x = {.label = "gain", .column = "gain"},
      .y = {.label = "", .column = "group"},
      .vertical = 0};
  std::vector<Gain> gains = GainsOf(sweep, data);
  Shorten(gains, figure);
  const std::string_view base = data.validation ? "the start" : "the base";
  std::vector<Series> series = {
      {.name = fmt::format("better than {}", base), .mark = Mark::kBars, .tone = Tone::kGood},
      {.name = fmt::format("worse than {}", base), .mark = Mark::kBars, .tone = Tone::kBad},
      {.name = "not told from 0", .mark = Mark::kBars}};
  for (const Gain& gain : gains) {
    const Tone tone = ToneOf(gain.mean);
    auto& one = *std::find_if(series.begin(), series.end(),
                              [&](const Series& other) { return other.tone == tone; });
    one.points.push_back({gain.mean->mean, static_cast<double>(figure.categories.size())});
    one.intervals.push_back(IntervalOf(gain.mean));
    figure.categories.push_back(gain.group->name);
  }
  for (Series& one : series) {
    if (!one.points.empty()) figure.series.push_back(std::move(one));
  }
  SayCutIntervals(figure);
  return figure;
}

PageTable GainTable(const Sweep& sweep) {
  PageTable table{
      .caption = "Gain (mean, 95 % interval over seeds)", .columns = {{"Group"}}, .sortable = true};
  for (const SweepData& data : sweep.data) {
    table.columns.push_back(
        {fmt::format("{}, {}, over {}", data.measure, data.Words(), BaseWords(data)), true});
  }
  table.columns[1].matters = true;
  for (const RecipeGroup& group : sweep.groups) {
    std::vector<PageCell> row = {ForeignCell(group.name)};
    for (const SweepData& data : sweep.data) {
      row.push_back(MeanCell(GainOf(data, group), ResultsOf(data, group), /*with_sign=*/true));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// The keys by which training begins with another model than the folder of model.base holds.
std::vector<std::string> KeysOfAnotherStart(const RecipeGroup& group) {
  std::vector<std::string> keys;
  for (const char* const key : {"model.layers", "model.projection", "model.adapter"}) {
    if (ValueIn(group, key) != nullptr) keys.emplace_back(key);
  }
  const KeyValue* const anew = ValueIn(group, "model.reinitialize_layers");
  if (anew != nullptr && anew->number.value_or(0) > 0)
    keys.emplace_back("model.reinitialize_layers");
  const KeyValue* const head = ValueIn(group, "model.head");
  if (head != nullptr && head->text == "true") keys.emplace_back("model.head");
  return keys;
}

bool HasGains(const Sweep& sweep, bool validation) {
  return std::any_of(sweep.data.begin(), sweep.data.end(), [&](const SweepData& data) {
    return data.validation == validation && !GainsOf(sweep, data).empty();
  });
}

// Gains on evaluations may be over another model than gains on validations.
void SayWhatGainsAreOver(const Sweep& sweep, Page& page) {
  size_t groups = 0;
  std::set<std::string> keys;
  for (const RecipeGroup& group : sweep.groups) {
    const std::vector<std::string> here = KeysOfAnotherStart(group);
    groups += here.empty() ? 0 : 1;
    keys.insert(here.begin(), here.end());
  }
  if (!HasGains(sweep, false)) return;
  std::string text =
      "A gain on validations is over the model with which training began, measured at step 0; one "
      "on evaluations is over the base model as its folder holds it.";
  if (groups > 0) {
    text += fmt::format(
        " These are two models in {} ({}), so that gains of one kind there say nothing of gains of "
        "the other.",
        groups == sweep.groups.size() ? "all groups" : Counted(groups, "group", "groups"),
        fmt::join(keys, ", "));
  }
  page.Paragraph(text);
}

// Runs whose best validation is the one before training, whose model is their base, therefore.
void SayWhoEndedAsBase(const Sweep& sweep, Page& page) {
  std::string names;
  size_t count = 0;
  for (const size_t i : sweep.RunsThatAre(RunState::kFinished)) {
    const RunRecord& run = sweep.input.runs[i];
    if (run.log.finished->model_step != 0) continue;
    names += (names.empty() ? "" : ", ") + run.name;
    ++count;
  }
  if (count == 0) return;
  page.Paragraph(
      fmt::format("{} as {} base, since no validation was better than the one before training: {}.",
                  Counted(count, "run ended", "runs ended"), count == 1 ? "its" : "their", names));
}

void SayOneSeed(const Sweep& sweep, Page& page) {
  const auto alone = static_cast<size_t>(
      std::count_if(sweep.groups.begin(), sweep.groups.end(),
                    [](const RecipeGroup& group) { return group.runs.size() == 1; }));
  if (alone == 0) return;
  page.Paragraph(fmt::format(
      "{} one seed and so no interval: whether the gain would be there with another seed is not "
      "known. `tandem train --seeds N` trains one recipe with several.",
      alone == sweep.groups.size() ? "All groups have"
                                   : Counted(alone, "group has", "groups have")));
}

}  // namespace

void AddSweepGains(const Sweep& sweep, Page& page) {
  if (sweep.groups.empty()) return;
  page.Section("gains", "What training gained", [&] {
    const bool any = std::any_of(sweep.data.begin(), sweep.data.end(), [&](const SweepData& data) {
      return !GainsOf(sweep, data).empty();
    });
    if (!any) {
      page.Missing("No gains: no run was measured before training on the same data.");
      return;
    }
    page.Figures([&] {
      for (const SweepData& data : sweep.data) {
        if (!GainsOf(sweep, data).empty()) page.AddFigure(GainFigure(sweep, data));
      }
    });
    for (const SweepData& data : sweep.data) {
      if (GainsOf(sweep, data).empty()) {
        page.Missing(
            fmt::format("No gains on {}: no run was measured there before training.", data.name));
      }
    }
    AddLongTable(GainTable(sweep), page);
    SayWhatGainsAreOver(sweep, page);
    if (sweep.groups.size() > 4) {
      page.Paragraph(
          "Each interval is one of many: of twenty groups that gain nothing, one has an interval "
          "that leaves out 0 by chance.");
    }
    SayWhoEndedAsBase(sweep, page);
    SayOneSeed(sweep, page);
  });
}

}  // namespace tandem::report
