// `tandem tune`: searches for a recipe, chooses by validation, and says whether to train at all.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/process/interrupt.h"
#include "config/tune/tune_recipe.h"
#include "dist/process_group.h"
#include "report/tables/table.h"
#include "tune/schedule/budget.h"

namespace tandem::tune {

struct SearchOptions {
  std::filesystem::path output;  // the search's folder
  bool resume = false;
  std::optional<Budget> budget;  // none: Hyperband's brackets
  std::string version;           // of the program
  StopRequest stop;
  dist::ProcessGroup* group = nullptr;  // trains together; not null
  bool ignore_limits = false;           // RunOptions::ignore_limits of each trial
  std::string format = "text";          // of what is returned: text, tsv or json
  report::TextStyle style;
};

// Searches and writes the folder (docs/tuning.md). It may be killed at any moment: with `resume` it
// goes on and ends in the journal and the choice of a search that nobody killed, but where a budget
// in seconds was not yet planned. Returns the table of finalists and the verdict on rank 0, "" on
// others. Throws the errors of its parts; UsageError for a folder that is there already (or, with
// `resume`, is not), for a space of one configuration, and for a budget below one trial;
// RecipeError for test data that the search looks at, and where a resumed search has another
// recipe.
std::string RunSearch(config::LoadedTune tune, const SearchOptions& options);

}  // namespace tandem::tune
