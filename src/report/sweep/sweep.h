// Many runs as a whole: which of them count, their groups, and what these came to on which data.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/recipe/recipe_parse.h"
#include "eval/significance/mean_interval.h"
#include "report/page/page.h"
#include "report/sweep/recipe_groups.h"
#include "report/sweep/repeats.h"
#include "report/sweep/run_state.h"

namespace tandem::report {

// What a reader asks for; empty: the page chooses.
struct SweepOptions {
  std::string by;                   // a key of recipes
  std::vector<std::string> series;  // keys of recipes
  std::string measure;
  std::vector<std::string> unread = {};  // folders that could not be opened
};

// What a run came to, and what its base model has on the same data.
struct RunResult {
  double value = 0;
  std::optional<double> base;
};

// A measure on data that runs were validated or evaluated on.
struct SweepData {
  std::string name;         // "cranfield, split test"
  bool validation = false;  // the data that chose each run's step, or else those of evaluations
  std::string measure;
  std::vector<std::optional<RunResult>> results;  // of each run, finished or not

  std::string Words() const;  // "validation on cranfield, split test"
};

// A group's mean over its finished runs that have a result; none where no run has.
using GroupMean = std::optional<eval::MeanSpread>;
GroupMean ValueOf(const SweepData& data, const RecipeGroup& group);
// Of the gain over the base: positive is better, whatever the measure.
GroupMean GainOf(const SweepData& data, const RecipeGroup& group);
size_t ResultsOf(const SweepData& data, const RecipeGroup& group);

// "loss"; of all others higher is better.
bool LowerIsBetter(std::string_view measure);

struct Sweep {
  const ReportInput& input;
  SweepOptions options;
  std::vector<RunState> states;     // of each run
  std::vector<KeyValues> run_keys;  // of each run, with names of its data (input_names.h)
  std::vector<RecipeGroup> groups;  // of finished runs; the best on the first data come first
  std::vector<Repeat> repeats;      // finished runs that are in no group
  std::vector<DifferingKey> keys;
  // Validations, those of most finished runs first, then evaluations; at least one. Where no run
  // has a result it is called "".
  std::vector<SweepData> data;

  std::vector<size_t> RunsThatAre(RunState state) const;
};

// `options.measure` must be one that a run has, else UsageError names those that there are. Without
// it, it is the measure by which most runs chose their step, or the first of their evaluations.
// `input` must outlive it.
Sweep MakeSweep(const ReportInput& input, const SweepOptions& options);

// Throws UsageError for a path that no recipe can have, with the nearest one, and for one that does
// not tell groups apart.
void CheckSweepKey(std::string_view flag, const std::string& path,
                   config::RecipeCatalogues catalogues);

// What the page says at its beginning, for a terminal: the best group, which runs are left out, and
// a key that was asked for and is the same in all of them.
std::vector<std::string> SweepSentences(const Sweep& sweep);

// index.html and the figures, as MakeReport.
std::vector<ReportFile> MakeSweepReport(const Sweep& sweep);

}  // namespace tandem::report
