// What a page of many runs leaves out, and what is wrong with files of runs.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/sweep/input_names.h"
#include "report/sweep/sweep_parts.h"

namespace tandem::report {
namespace {

std::string RunNamesOf(const Sweep& sweep, const std::vector<size_t>& runs) {
  std::string names;
  for (const size_t run : runs) names += (names.empty() ? "" : ", ") + sweep.input.runs[run].name;
  return names;
}

// Adds the sentence where there are such runs, with their names at its end.
void AddNamed(const Sweep& sweep, const std::string& what, const std::vector<size_t>& runs,
              std::vector<std::string>& sentences) {
  if (!runs.empty()) sentences.push_back(fmt::format("{}: {}.", what, RunNamesOf(sweep, runs)));
}

void AddRepeats(const Sweep& sweep, std::vector<std::string>& sentences) {
  for (const bool same : {true, false}) {
    std::string names;
    for (const Repeat& repeat : sweep.repeats) {
      if (repeat.same_values != same) continue;
      names += fmt::format("{}{} (of {})", names.empty() ? "" : ", ",
                           sweep.input.runs[repeat.run].name, sweep.input.runs[repeat.of].name);
    }
    if (names.empty()) continue;
    sentences.push_back(fmt::format(
        "{}, and in no mean, since a group counts each seed once: {}.",
        same ? "The same recipe, seed and values as another run, a copy perhaps"
             : "The same recipe and seed as another run, but other values, as of other threads, "
               "another machine or another version",
        names));
  }
}

std::vector<size_t> FinishedWithout(const Sweep& sweep, const SweepData& data) {
  std::vector<size_t> without;
  for (const size_t run : sweep.RunsThatAre(RunState::kFinished)) {
    if (!data.results[run]) without.push_back(run);
  }
  return without;
}

std::vector<size_t> KnownByName(const Sweep& sweep) {
  std::vector<size_t> by_name;
  for (const size_t run : sweep.RunsThatAre(RunState::kFinished)) {
    if (IsKnownByName(sweep.input.runs[run])) by_name.push_back(run);
  }
  return by_name;
}

// Sentences about single runs, those of one problem together: what follows the run's name, and the
// runs.
class Problems {
 public:
  void Add(const std::string& run, const std::string& sentence) {
    const std::string start = run + ": ";
    const bool named = sentence.starts_with(start);
    const std::string rest = named ? sentence.substr(start.size()) : sentence;
    const auto same = std::find_if(problems_.begin(), problems_.end(), [&](const auto& one) {
      return named && one.first == rest && !one.second.empty();
    });
    if (same != problems_.end()) {
      same->second += ", " + run;
    } else {
      problems_.emplace_back(rest, named ? run : "");
    }
  }

  std::vector<std::string> Take() const {
    std::vector<std::string> sentences;
    for (const auto& [rest, runs] : problems_) {
      sentences.push_back(runs.empty() ? rest : fmt::format("{}: {}", runs, rest));
    }
    return sentences;
  }

 private:
  std::vector<std::pair<std::string, std::string>> problems_;
};

bool HasAnEmptyLog(const RunRecord& run) {
  const RunLog& log = run.log;
  const bool said =
      std::any_of(run.missing.begin(), run.missing.end(), [](const std::string& sentence) {
        return sentence.find("metrics.jsonl") != std::string::npos;
      });
  return !said && log.unreadable_lines == 0 && log.steps.empty() && log.validations.empty() &&
         log.minings.empty() && !log.finished;
}

}  // namespace

std::vector<std::string> LeftOutSentences(const Sweep& sweep) {
  std::vector<std::string> sentences;
  AddNamed(sweep, "Not finished, and in no mean", sweep.RunsThatAre(RunState::kUnfinished),
           sentences);
  AddNamed(sweep, "Broken, and in no group", sweep.RunsThatAre(RunState::kBroken), sentences);
  AddRepeats(sweep, sentences);
  const SweepData& first = sweep.data.front();
  AddNamed(sweep,
           fmt::format("Finished, but without {} on {}, and in no mean of it",
                       first.measure.empty() ? "a measure" : first.measure,
                       first.name.empty() ? "any data" : first.name),
           FinishedWithout(sweep, first), sentences);
  if (sweep.input.runs.size() > 1) {
    AddNamed(sweep,
             "Neither a checkpoint nor recipe.given.toml says which data these were trained on, so "
             "that the name of their folder alone does",
             KnownByName(sweep), sentences);
  }
  for (const std::string& folder : sweep.options.unread) {
    sentences.push_back(folder + " could not be opened, so that runs in it are not here.");
  }
  return sentences;
}

std::vector<std::string> ProblemSentences(const Sweep& sweep) {
  Problems problems;
  for (size_t i = 0; i < sweep.input.runs.size(); ++i) {
    const RunRecord& run = sweep.input.runs[i];
    if (const std::optional<std::string> fault = LogFault(run)) {
      problems.Add(run.name, *fault + ".");
    } else if (sweep.states[i] == RunState::kUnfinished && HasAnEmptyLog(run)) {
      problems.Add(run.name, run.name + ": metrics.jsonl is empty.");
    }
    for (const std::string& sentence : run.missing) problems.Add(run.name, sentence);
  }
  std::vector<std::string> sentences = problems.Take();
  sentences.insert(sentences.end(), sweep.input.missing.begin(), sweep.input.missing.end());
  return sentences;
}

}  // namespace tandem::report
