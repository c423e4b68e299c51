// The record of a training run for a report, read from the files of its folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/recipe/recipe_parse.h"
#include "report/records/draws_by_score.h"
#include "report/records/pass_row.h"
#include "report/records/run_inputs.h"
#include "report/records/run_log.h"

namespace tandem::report {

// A name and what it is, as a reader sees them.
struct Fact {
  std::string name;
  std::string value;
};

struct TimePart {
  std::string name;
  double seconds = 0;
};

// What a run is validated on while it trains.
struct ValidationFacts {
  // The name of validation.data, or, where queries are held out, of the training data.
  std::string data;
  std::string split;      // "" where `data` has none
  bool held_out = false;  // queries of the training data, kept out of training
  // As the run wrote them down: queries, documents that are ranked, and those of their corpus.
  std::optional<int64_t> queries, documents, corpus;
};

// The value of a key of a recipe: its text as a reader sees it, without quotes, and the number that
// it is, if it is one.
struct KeyValue {
  std::string text;
  std::optional<double> number;

  bool operator==(const KeyValue&) const = default;
};
using KeyValues = std::map<std::string, KeyValue, std::less<>>;  // by path: "train.batch"

inline constexpr size_t kMostDraws = 9;

struct RunRecord {
  std::string name;           // the folder's, or what the caller calls it
  std::vector<Fact> recipe;   // what matters most of it
  std::string recipe_text;    // recipe.resolved.toml
  KeyValues keys;             // that are set and do something; empty: no recipe that can be read
  std::vector<Fact> machine;  // version, threads, precision, instruction set
  std::optional<ValidationFacts> validation;  // none: no validation, or no recipe to read
  RunLog log;
  std::vector<TimePart> times;  // where the time went, the longest first
  // Time of the steps up to the best validation, with the validations among them; work that was
  // repeated after an interruption counts once. Times are written every logging.every steps: of a
  // row that reaches beyond the validation its share of steps counts. None where a row lacks its
  // time, or where no row reaches to the validation.
  std::optional<double> seconds_to_best;
  // The same time for each validation of the log, not a number where there is none; empty where the
  // run wrote down no times.
  std::vector<double> seconds_to_validations;
  std::optional<int64_t> most_memory_bytes;
  std::vector<PassRow> passes;
  // Says how many training queries were drawn 0, 1, 2, ... times in all epochs; the last number is
  // of kMostDraws times or more.
  std::vector<int64_t> queries_by_draws;
  std::optional<DrawsByScore> draws_by_score;  // none: the run has no first scores to read
  bool first_scores_damaged = false;
  size_t damaged_passes = 0;  // epochs whose records cannot be read, of those that `passes` is of
  // Sentences about files that the folder lacks or that are broken.
  std::vector<std::string> missing;
  RunInputs inputs = {};
};

// Reads what is there; what is missing or broken is said in `missing` and left out. `name` is the
// run's name on the page; "": the folder's.
RunRecord ReadRun(const std::filesystem::path& folder, config::RecipeCatalogues catalogues,
                  const std::string& name = "");

}  // namespace tandem::report
