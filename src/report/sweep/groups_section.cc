// The beginning of a page of many runs, and the tables of their groups and of the runs.
#include <fmt/format.h>

#include <algorithm>

#include "report/sweep/sweep_parts.h"
#include "report/tables/numbers.h"

namespace tandem::report {
namespace {

const SweepData& First(const Sweep& sweep) { return sweep.data.front(); }

// Of several data sets of validation each has its name.
std::string Columns(const Sweep& sweep, const SweepData& data) {
  const auto like = std::count_if(sweep.data.begin(), sweep.data.end(), [&](const SweepData& one) {
    return one.validation && one.measure == data.measure;
  });
  if (data.measure.empty()) return "measure";
  if (!data.validation) return fmt::format("{}, {}", data.measure, data.name);
  return fmt::format("{}, {}", data.measure, like > 1 ? data.Words() : "validation");
}

// "mean 0.1713 [0.1604, 0.1822] over 3 seeds".
std::string ValueWords(const GroupMean& mean, size_t runs) {
  if (!mean) return "no value";
  if (!mean->interval)
    return fmt::format("{} with one seed, so without an interval", Fixed(mean->mean));
  return fmt::format("{} [{}, {}] over {} seeds", Fixed(mean->mean), Fixed(mean->interval->low),
                     Fixed(mean->interval->high), runs);
}

std::string BestWords(const Sweep& sweep) {
  const RecipeGroup& best = sweep.groups.front();
  const SweepData& data = First(sweep);
  const GroupMean gain = GainOf(data, best);
  std::string words = fmt::format("has the best {}: {}", data.measure,
                                  ValueWords(ValueOf(data, best), ResultsOf(data, best)));
  if (gain) {
    words += fmt::format(", {} beside {}", Signed(gain->mean),
                         data.validation ? "its start" : "its base");
  }
  words += ".";
  const auto compared =
      std::count_if(sweep.groups.begin(), sweep.groups.end(),
                    [&](const RecipeGroup& group) { return ValueOf(data, group).has_value(); });
  if (compared > 1) {
    words += fmt::format(
        " It is the best of {} groups on the data that compared them, which makes it look a little "
        "better than it is; data that chose nothing say how good it is.",
        compared);
  }
  return words;
}

std::string DataWordsOf(const Sweep& sweep) {
  std::string validations, evaluations;
  for (const SweepData& data : sweep.data) {
    if (data.name.empty()) continue;
    std::string& words = data.validation ? validations : evaluations;
    words += fmt::format("{}{} on {}", words.empty() ? "" : "; ", data.measure, data.name);
  }
  std::string text;
  if (!validations.empty()) {
    text +=
        fmt::format("From the runs' validations, which chose each run's step: {}. ", validations);
  }
  text += evaluations.empty()
              ? "No run was evaluated on other data; with --dataset this command does that."
              : fmt::format("From evaluations of the trained models: {}.", evaluations);
  return text;
}

PageTable GroupTable(const Sweep& sweep) {
  const std::string& measure = First(sweep).measure;
  PageTable table{
      .caption =
          "Groups of runs that differ in their seed alone" +
          (measure.empty() ? std::string()
                           : fmt::format(", by {} (mean, 95 % interval over seeds)", measure)),
      .columns = {{"Group"}, {"Seeds", true}},
      .sortable = true};
  for (size_t i = 0; i < sweep.data.size(); ++i) {
    table.columns.push_back({Columns(sweep, sweep.data[i]), true, i == 0});
  }
  for (const RecipeGroup& group : sweep.groups) {
    std::vector<PageCell> row = {ForeignCell(group.name),
                                 CountCell(static_cast<int64_t>(group.runs.size()))};
    for (const SweepData& data : sweep.data) {
      row.push_back(MeanCell(ValueOf(data, group), ResultsOf(data, group)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

PageCell ResultCell(const std::optional<RunResult>& result) {
  return NumberCell(result ? std::optional(result->value) : std::nullopt);
}

std::string StateWords(RunState state) {
  switch (state) {
    case RunState::kFinished:
      return "finished";
    case RunState::kRepeated:
      return "finished, a repeat";
    case RunState::kUnfinished:
      return "not finished";
    case RunState::kBroken:
      return "broken";
  }
  return "";
}

std::vector<size_t> RunsByMeasure(const Sweep& sweep) {
  std::vector<size_t> order(sweep.input.runs.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const SweepData& data = First(sweep);
  const auto rank = [&](size_t run) {
    const std::optional<RunResult>& result = data.results[run];
    if (!result) return std::pair(true, 0.0);
    return std::pair(false, LowerIsBetter(data.measure) ? result->value : -result->value);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return rank(a) < rank(b); });
  return order;
}

PageTable RunTable(const Sweep& sweep) {
  PageTable table{.caption = First(sweep).measure.empty()
                                 ? std::string("Runs")
                                 : fmt::format("Runs, by {}", First(sweep).measure),
                  .columns = {{"Run"}, {"Group"}, {"Seed", true}, {"Steps", true}, {"State"}},
                  .sortable = true};
  for (size_t i = 0; i < sweep.data.size(); ++i) {
    table.columns.push_back({Columns(sweep, sweep.data[i]), true, i == 0});
  }
  std::vector<std::string> groups(sweep.input.runs.size(), "-");
  for (const RecipeGroup& group : sweep.groups) {
    for (const size_t run : group.runs) groups[run] = group.name;
  }
  for (const Repeat& repeat : sweep.repeats) groups[repeat.run] = groups[repeat.of];
  for (const size_t i : RunsByMeasure(sweep)) {
    const RunRecord& run = sweep.input.runs[i];
    const auto seed = run.keys.find("seed");
    std::vector<PageCell> row = {ForeignCell(run.name), ForeignCell(groups[i]),
                                 TextCell(seed == run.keys.end() ? "-" : seed->second.text),
                                 CountCell(run.log.step), TextCell(StateWords(sweep.states[i]))};
    for (const SweepData& data : sweep.data) row.push_back(ResultCell(data.results[i]));
    table.rows.push_back(std::move(row));
  }
  return table;
}

void SayWhatIsLeftOut(const Sweep& sweep, Page& page) {
  for (const std::string& sentence : LeftOutSentences(sweep)) page.Missing(sentence);
  for (const std::string& sentence : ProblemSentences(sweep)) page.Missing(sentence);
}

// Says whether a group has several seeds that were validated on held-out queries.
bool AnyHeldOut(const Sweep& sweep) {
  return std::any_of(sweep.groups.begin(), sweep.groups.end(), [&](const RecipeGroup& group) {
    const std::optional<ValidationFacts>& facts = sweep.input.runs[group.runs.front()].validation;
    return group.runs.size() > 1 && facts && facts->held_out;
  });
}

bool HasABest(const Sweep& sweep) {
  return !sweep.groups.empty() && ValueOf(First(sweep), sweep.groups.front());
}

}  // namespace

std::vector<std::string> SweepSentences(const Sweep& sweep) {
  std::vector<std::string> sentences;
  if (HasABest(sweep)) {
    sentences.push_back(fmt::format("{} {}", sweep.groups.front().name, BestWords(sweep)));
  }
  for (const auto& some :
       {LeftOutSentences(sweep), ProblemSentences(sweep), AlikeSentences(sweep)}) {
    sentences.insert(sentences.end(), some.begin(), some.end());
  }
  return sentences;
}

void AddSweepSummary(const Sweep& sweep, Page& page) {
  Html& html = page.html();
  html.In("p", {{"class", "advice"}}, [&] {
    if (!HasABest(sweep)) {
      html.Text("No finished run has a measure, so that none can be called the best.");
      return;
    }
    html.In("strong", [&] { html.Foreign(sweep.groups.front().name); });
    html.Text(" " + BestWords(sweep));
  });
  const size_t repeats = sweep.repeats.size();
  const size_t finished = sweep.RunsThatAre(RunState::kFinished).size() + repeats;
  html.In("p", {{"class", "lead"}}, [&] {
    html.Text(fmt::format("{}, of which {} finished{}, in {}. {}",
                          Counted(sweep.input.runs.size(), "run", "runs"), finished,
                          repeats == 0 ? "" : fmt::format(" ({} of them repeats)", repeats),
                          Counted(sweep.groups.size(), "group", "groups"), DataWordsOf(sweep)));
  });
  html.Break();
}

void AddSweepGroups(const Sweep& sweep, Page& page) {
  page.Section("groups", "Groups and runs", [&] {
    SayWhatIsLeftOut(sweep, page);
    if (!sweep.groups.empty()) {
      AddLongTable(GroupTable(sweep), page);
      page.Paragraph(
          "An interval is Student's, over the seeds of a group: it says how much the mean would "
          "move "
          "with other seeds, not with other queries. Of two seeds it is wide, of one there is "
          "none.");
    }
    if (AnyHeldOut(sweep)) {
      page.Paragraph(
          "Queries that are held out of the training data are drawn by the seed: runs of a group "
          "were validated on queries of their own each, which its interval has in it too.");
    }
    const PageTable runs = RunTable(sweep);
    page.html().In("details", [&] {
      page.html().Element("summary", Counted(runs.rows.size(), "run", "runs, each for itself"));
      page.AddTable(runs);
    });
  });
}

}  // namespace tandem::report
