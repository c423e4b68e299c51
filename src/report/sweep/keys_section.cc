// The measure against keys of the recipe.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "report/sweep/sweep_parts.h"
#include "report/tables/numbers.h"

namespace tandem::report {
namespace {

constexpr size_t kMostFigures = 3;

// The group's values of some keys: "infonce, batch 32"; a dash for one that is not set.
std::string ComboOf(const RecipeGroup& group, const std::vector<std::string>& keys) {
  std::string combo;
  for (const std::string& key : keys) {
    const KeyValue* const value = ValueIn(group, key);
    const std::string leaf = key.substr(key.rfind('.') + 1);
    const std::string text = value == nullptr ? "-" : value->text;
    combo +=
        (combo.empty() ? "" : ", ") + (leaf == "name" ? text : fmt::format("{} {}", leaf, text));
  }
  return combo;
}

// A line of the figure: for each value of the key the groups that have it, the best one first, as
// groups come sorted.
struct Line {
  std::string combo;
  std::map<size_t, std::vector<const RecipeGroup*>> groups;  // by the value's number
};

std::vector<Line> LinesOf(const Sweep& sweep, const SweepData& data, const DifferingKey& key,
                          const std::vector<std::string>& series) {
  std::vector<Line> lines;
  for (const RecipeGroup& group : sweep.groups) {
    const KeyValue* const value = ValueIn(group, key.path);
    if (value == nullptr || !ValueOf(data, group)) continue;
    const std::string combo = ComboOf(group, series);
    auto line = std::find_if(lines.begin(), lines.end(),
                             [&](const Line& one) { return one.combo == combo; });
    if (line == lines.end()) line = lines.insert(lines.end(), {.combo = combo});
    const auto at = std::find(key.values.begin(), key.values.end(), *value) - key.values.begin();
    line->groups[static_cast<size_t>(at)].push_back(&group);
  }
  const bool lower = LowerIsBetter(data.measure);
  for (Line& line : lines) {
    for (auto& [at, groups] : line.groups) {
      std::stable_sort(groups.begin(), groups.end(), [&](const auto* a, const auto* b) {
        const double x = ValueOf(data, *a)->mean, y = ValueOf(data, *b)->mean;
        return lower ? x < y : x > y;
      });
    }
  }
  return lines;
}

bool IsNumeric(const DifferingKey& key) {
  return std::all_of(key.values.begin(), key.values.end(),
                     [](const KeyValue& value) { return value.number.has_value(); });
}

// An axis of a number: logarithmic where values are positive and span a decade or more. The ends
// leave room beside the outer points.
void SetNumericAxis(const DifferingKey& key, Figure& figure) {
  constexpr double kMargin = 0.06;  // of the axis
  constexpr size_t kMostMarks = 8;
  const double low = *key.values.front().number;
  const double high = *key.values.back().number;
  Axis& x = figure.x;
  x.logarithmic = low > 0 && high >= 10 * low;
  if (key.values.size() <= kMostMarks) {
    for (const KeyValue& value : key.values) x.marks.push_back(*value.number);
  }
  if (low == high) return;
  if (x.logarithmic) {
    const double factor = std::pow(high / low, kMargin);
    x.low = low / factor;
    x.high = high * factor;
  } else {
    x.low = low - kMargin * (high - low);
    x.high = high + kMargin * (high - low);
  }
}

Point PointOf(const DifferingKey& key, size_t at, double value, bool numeric) {
  return numeric ? Point{*key.values[at].number, value} : Point{value, static_cast<double>(at)};
}

// The best groups of a line as one series and the further ones as dots.
void AddLine(const SweepData& data, const DifferingKey& key, const Line& line, bool numeric,
             Series series, Figure& figure, size_t& further) {
  series.name = line.combo;
  series.mark = numeric ? Mark::kLineAndPoints : Mark::kPoints;
  Series rest = series;
  rest.name = line.combo.empty() ? "further groups" : line.combo + ", further groups";
  rest.mark = Mark::kPoints;
  rest.legend = "";
  for (const auto& [at, groups] : line.groups) {
    for (size_t i = 0; i < groups.size(); ++i) {
      const GroupMean mean = ValueOf(data, *groups[i]);
      Series& to = i == 0 ? series : rest;
      to.points.push_back(PointOf(key, at, mean->mean, numeric));
      to.intervals.push_back(IntervalOf(mean));
    }
  }
  further += rest.points.size();
  figure.series.push_back(std::move(series));
  if (!rest.points.empty()) {
    rest.intervals.clear();
    figure.series.push_back(std::move(rest));
  }
}

// The key with those of its values alone of which a group has a mean on the data.
DifferingKey WithMeans(const Sweep& sweep, const SweepData& data, DifferingKey key) {
  std::erase_if(key.values, [&](const KeyValue& value) {
    return std::none_of(sweep.groups.begin(), sweep.groups.end(), [&](const RecipeGroup& group) {
      const KeyValue* const here = ValueIn(group, key.path);
      return here != nullptr && *here == value && ValueOf(data, group);
    });
  });
  return key;
}

// `all` has the values of all groups.
Figure KeyFigure(const Sweep& sweep, const SweepData& data, const DifferingKey& all,
                 const std::vector<std::string>& series) {
  const DifferingKey key = WithMeans(sweep, data, all);
  const bool numeric = IsNumeric(key);
  Figure figure{
      .name = "by-" + key.path,
      .title = fmt::format("{} by {}", data.measure, key.path),
      .description = fmt::format("Each point is a group's mean with its 95 % interval over "
                                 "seeds: {}.",
                                 data.Words()),
      .x = {.label = numeric ? key.path : data.measure, .column = numeric ? key.path : "value"},
      .y = {.label = numeric ? data.measure : "", .column = numeric ? "value" : key.path}};
  std::replace(figure.name.begin(), figure.name.end(), '.', '-');
  if (numeric && !key.values.empty()) {
    SetNumericAxis(key, figure);
  } else {
    for (const KeyValue& value : key.values) figure.categories.push_back(value.text);
  }
  const std::vector<Line> lines = LinesOf(sweep, data, key, series);
  size_t further = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    Series style;
    style.name = lines[i].combo;
    StyleLine(i, lines.size(), "lines", style);
    if (lines.size() == 1) style.legend = "";
    AddLine(data, key, lines[i], numeric, std::move(style), figure, further);
  }
  if (further > 0) {
    figure.note = fmt::format(
        "{} the best group at each value; {}, which {} in other keys, {}.",
        numeric ? "A line runs through" : "An interval is of",
        further == 1 ? "one further group" : fmt::format("the {} further groups", further),
        further == 1 ? "differs" : "differ", further == 1 ? "is a dot" : "are dots");
  }
  if (key.without > 0) {
    figure.note +=
        fmt::format("{}{} without this key are not here.", figure.note.empty() ? "" : " ",
                    Counted(key.without, "group", "groups"));
  }
  SayCutIntervals(figure);
  return figure;
}

const DifferingKey* Find(const Sweep& sweep, const std::string& path) {
  const auto found = std::find_if(sweep.keys.begin(), sweep.keys.end(),
                                  [&](const DifferingKey& key) { return key.path == path; });
  return found == sweep.keys.end() ? nullptr : &*found;
}

// The keys by which lines are told apart beside `by`.
std::vector<std::string> SeriesKeys(const Sweep& sweep, const std::string& by) {
  std::vector<std::string> keys = sweep.options.series;
  if (keys.empty() && Find(sweep, "objective.name") != nullptr) keys = {"objective.name"};
  std::erase(keys, by);
  return keys;
}

// Says of a key that was asked for and does not differ what it is in all runs; "" where it does.
std::string AlikeSentence(const Sweep& sweep, const std::string& flag, const std::string& path) {
  const KeyValue* value = nullptr;
  size_t with = 0;
  for (const RecipeGroup& group : sweep.groups) {
    if (const KeyValue* const one = ValueIn(group, path)) {
      value = one;
      ++with;
    }
  }
  if (value == nullptr) {
    return fmt::format("{} {}: no finished run sets it.", flag, path);
  }
  const bool alike = std::all_of(sweep.groups.begin(), sweep.groups.end(), [&](const auto& group) {
    const KeyValue* const one = ValueIn(group, path);
    return one == nullptr || *one == *value;
  });
  if (!alike) return "";
  return fmt::format("{} {}: it is {} in all finished runs{}.", flag, path, value->text,
                     with < sweep.groups.size() ? " that set it" : "");
}

std::vector<DifferingKey> ChosenKeys(const Sweep& sweep) {
  std::vector<DifferingKey> keys;
  if (!sweep.options.by.empty()) {
    // Also a key that goes with an entry, which the page does not choose by itself.
    if (const std::optional<DifferingKey> key = KeyOfGroups(sweep.groups, sweep.options.by)) {
      keys.push_back(*key);
    }
    return keys;
  }
  for (const DifferingKey& key : sweep.keys) {
    DifferingKey shown = WithMeans(sweep, sweep.data.front(), key);
    if (shown.values.size() > 1) keys.push_back(std::move(shown));
  }
  std::stable_sort(keys.begin(), keys.end(), [](const DifferingKey& a, const DifferingKey& b) {
    return a.values.size() > b.values.size();
  });
  if (keys.size() > kMostFigures) keys.resize(kMostFigures);
  return keys;
}

std::string ChoiceWords(const Sweep& sweep, const std::vector<DifferingKey>& chosen) {
  std::string names, others;
  for (const DifferingKey& key : sweep.keys) {
    const bool shown = std::any_of(chosen.begin(), chosen.end(),
                                   [&](const DifferingKey& one) { return one.path == key.path; });
    std::string& list = shown ? names : others;
    list += (list.empty() ? "" : ", ") + key.path;
  }
  std::string text = fmt::format(
      "The page has chosen the keys that have most values among those that differ: {}.", names);
  if (!others.empty()) text += fmt::format(" These differ too: {}; --by KEY shows one.", others);
  return text;
}

}  // namespace

std::vector<std::string> AlikeSentences(const Sweep& sweep) {
  std::vector<std::string> sentences;
  if (sweep.groups.empty()) return sentences;
  const auto add = [&](const std::string& flag, const std::string& key) {
    const std::string sentence = AlikeSentence(sweep, flag, key);
    if (!sentence.empty()) sentences.push_back(sentence);
  };
  if (!sweep.options.by.empty()) add("--by", sweep.options.by);
  for (const std::string& key : sweep.options.series) add("--series", key);
  return sentences;
}

void AddSweepKeys(const Sweep& sweep, Page& page) {
  if (sweep.groups.empty()) return;
  page.Section("keys", "What the measure follows", [&] {
    const std::vector<DifferingKey> keys = ChosenKeys(sweep);
    for (const std::string& sentence : AlikeSentences(sweep)) page.Missing(sentence);
    if (sweep.options.by.empty() && keys.empty()) {
      page.Paragraph("No key differs between the groups in more than one value.");
    } else if (sweep.options.by.empty()) {
      page.Paragraph(ChoiceWords(sweep, keys));
    }
    page.Figures([&] {
      for (const DifferingKey& key : keys) {
        for (const SweepData& data : sweep.data) {
          // Of keys that the page has chosen, the first data are enough.
          if (sweep.options.by.empty() && &data != &sweep.data.front()) continue;
          Figure figure = KeyFigure(sweep, data, key, SeriesKeys(sweep, key.path));
          if (!figure.series.empty()) page.AddFigure(std::move(figure));
        }
      }
    });
  });
}

}  // namespace tandem::report
