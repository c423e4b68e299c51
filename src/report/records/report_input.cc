#include "report/records/report_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "report/records/evaluation_file.h"
#include "report/records/same_data.h"

namespace tandem::report {
namespace {

namespace fs = std::filesystem;

// "after" of "after.evaluation.json"; the whole stem of another name.
std::string LabelOf(const fs::path& path) {
  const std::string name = path.filename().native();
  if (name.ends_with(kEvaluationSuffix)) {
    return name.substr(0, name.size() - kEvaluationSuffix.size());
  }
  return path.stem().native();
}

int RankOf(const std::string& label) { return label == "before" ? 0 : label == "after" ? 1 : 2; }

std::vector<fs::path> EvaluationFiles(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename().native().ends_with(kEvaluationSuffix))
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    return std::pair(RankOf(LabelOf(a)), LabelOf(a)) < std::pair(RankOf(LabelOf(b)), LabelOf(b));
  });
  return files;
}

class InputReader {
 public:
  InputReader(config::RecipeCatalogues catalogues, const Measured& measured, const RunNames& names)
      : catalogues_(catalogues), measured_(measured), given_names_(names) {}

  void AddRun(const fs::path& folder, bool alone) {
    const auto given = given_names_.find(folder.native());
    const bool one_of_many = given != given_names_.end();
    RunRecord run =
        one_of_many ? ReadOneOfMany(folder, given->second) : ReadRun(folder, catalogues_);
    run.name = Unique(run.name, names_);
    const std::vector<fs::path> files = EvaluationFiles(folder / "report");
    if (!SayWhatWasNotMeasured(folder, files, run.name) && files.empty() && !one_of_many) {
      input_.missing.push_back(
          fmt::format("{}: no model was evaluated: report/ has no file *{}. "
                      "`tandem report RUN --dataset FOLDER` makes them.",
                      run.name, kEvaluationSuffix));
    }
    for (RunEvaluation& one : Comparable(Read(files, run.name), run.name)) {
      const size_t index =
          AddEvaluation(alone ? one.label : fmt::format("{}: {}", run.name, one.label), one.label,
                        std::move(one.record), std::move(one.place));
      input_.of_runs.push_back({input_.runs.size(), index, one.label});
    }
    input_.runs.push_back(std::move(run));
  }

  void AddFile(const fs::path& path) { AddEvaluation(LabelOf(path), "", ReadEvaluation(path)); }

  ReportInput Take() {
    if (input_.runs.size() == 1) {
      input_.title = "Report of " + input_.runs.front().name;
    } else {
      input_.title = input_.runs.empty() ? "Comparison of models" : "Comparison of runs";
    }
    return std::move(input_);
  }

 private:
  RunRecord ReadOneOfMany(const fs::path& folder, const std::string& name) {
    try {
      return ReadRun(folder, catalogues_, name);
    } catch (const Error& error) {
      return {.name = name, .missing = {fmt::format("{}: {}", name, error.what())}};
    }
  }

  struct RunEvaluation {
    std::string label;  // without the run's name
    EvaluationRecord record;
    std::optional<EvaluationPlace> place;  // of one that was measured just now
  };

  // Says whether there was something to say.
  bool SayWhatWasNotMeasured(const fs::path& folder, const std::vector<fs::path>& files,
                             const std::string& run) {
    bool said = false;
    for (const RunNote& note : measured_.notes) {
      if (note.run != folder) continue;
      const bool there = std::any_of(files.begin(), files.end(), [&](const fs::path& file) {
        return LabelOf(file) == note.evaluation;
      });
      input_.missing.push_back(fmt::format("{}: {}.{}", run, note.sentence,
                                           there ? " What is there was measured earlier." : ""));
      said = true;
    }
    return said;
  }

  std::vector<RunEvaluation> Read(const std::vector<fs::path>& files, const std::string& run) {
    std::vector<RunEvaluation> read;
    for (const fs::path& file : files) {
      const auto fresh = measured_.files.find(file);
      try {
        read.push_back(
            {LabelOf(file), ReadEvaluation(file),
             fresh == measured_.files.end() ? std::nullopt : std::optional(fresh->second)});
      } catch (const DataError& error) {
        input_.missing.push_back(
            fmt::format("{}: an evaluation cannot be read: {}", run, error.what()));
      }
    }
    return read;
  }

  // Leaves out the one of `before` and `after` that stayed from other data when the other was
  // measured anew: what was measured just now is shown, else `after`, because the page is about its
  // model.
  std::vector<RunEvaluation> Comparable(std::vector<RunEvaluation> read, const std::string& run) {
    const auto labelled = [&](std::string_view label) {
      return std::find_if(read.begin(), read.end(),
                          [&](const RunEvaluation& one) { return one.label == label; });
    };
    const auto before = labelled("before");
    const auto after = labelled("after");
    if (before == read.end() || after == read.end() || SameData(before->record, after->record)) {
      return read;
    }
    const auto left_out = before->place && !after->place ? after : before;
    input_.missing.push_back(fmt::format(
        "{}: {} is left out: before and after were not measured on the same data but on {}. "
        "`tandem report RUN --dataset FOLDER` measures both.",
        run, left_out->label, BothDataWords(before->record, after->record)));
    read.erase(left_out);
    return read;
  }

  // The name, with a number after it where it is taken.
  static std::string Unique(const std::string& name, std::vector<std::string>& taken) {
    std::string unique = name;
    for (int i = 2; std::find(taken.begin(), taken.end(), unique) != taken.end(); ++i) {
      unique = fmt::format("{} ({})", name, i);
    }
    taken.push_back(unique);
    return unique;
  }

  // Returns its number. `shared_label`: of an evaluation that other runs may have alike, such as of
  // one base model.
  size_t AddEvaluation(const std::string& label, const std::string& shared_label,
                       EvaluationRecord record,
                       std::optional<EvaluationPlace> place = std::nullopt) {
    std::string text = EvaluationText(record);
    const auto same = std::find(texts_.begin(), texts_.end(), text);
    if (same != texts_.end() && !shared_label.empty()) {
      const auto first = static_cast<size_t>(same - texts_.begin());
      if (!shared_[first]) input_.evaluations[first].label = Unique(shared_label, labels_);
      shared_[first] = true;
      return first;
    }
    texts_.push_back(std::move(text));
    shared_.push_back(false);
    input_.evaluations.push_back({Unique(label, labels_), std::move(record), std::move(place)});
    return input_.evaluations.size() - 1;
  }

  config::RecipeCatalogues catalogues_;
  const Measured& measured_;
  const RunNames& given_names_;
  ReportInput input_;
  std::vector<std::string> names_;   // of runs
  std::vector<std::string> labels_;  // of evaluations
  std::vector<std::string> texts_;   // of evaluations, to find those that are alike
  std::vector<bool> shared_;         // of evaluations: several runs have it
};

constexpr const char* kExpected =
    "a run folder (with metrics.jsonl or recipe.resolved.toml), a model folder (with config.json "
    "or modules.json) or a file NAME.evaluation.json";

[[noreturn]] void FailAt(const fs::path& path) {
  throw UsageError(fmt::format(
      "{}: {}; expected {}", path.native(),
      fs::exists(path) ? "is none of what a report is made of" : "there is no such file or folder",
      kExpected));
}

void CheckNamedOnce(std::span<const std::string> paths) {
  for (size_t i = 0; i < paths.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      std::error_code error;
      if (fs::equivalent(paths[i], paths[j], error) && !error) {
        throw UsageError(fmt::format("{} is named twice", paths[i]));
      }
    }
  }
}

}  // namespace

bool IsRunFolder(const fs::path& path) {
  return fs::exists(path / "metrics.jsonl") || fs::exists(path / "recipe.resolved.toml");
}

void CheckReportInput(std::span<const std::string> paths) {
  CheckNamedOnce(paths);
  for (const std::string& path : paths) {
    if (IsRunFolder(path)) continue;
    if (!fs::is_regular_file(path)) FailAt(path);
    ReadEvaluation(path);
  }
}

ReportInput ReadReportInput(std::span<const std::string> paths, config::RecipeCatalogues catalogues,
                            const Measured& measured, const RunNames& names) {
  CheckNamedOnce(paths);
  const auto runs = std::count_if(paths.begin(), paths.end(), IsRunFolder);
  InputReader reader(catalogues, measured, names);
  for (const std::string& path : paths) {
    if (IsRunFolder(path)) {
      reader.AddRun(path, runs == 1);
    } else if (fs::is_regular_file(path)) {
      reader.AddFile(path);
    } else {
      FailAt(path);
    }
  }
  return reader.Take();
}

}  // namespace tandem::report
