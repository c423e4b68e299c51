// What all parts of a search work with.
#pragma once

#include <set>
#include <string>

#include "config/tune/tune_recipe.h"
#include "train/inputs/token_store.h"
#include "train/validation/measure_models.h"
#include "tune/journal.h"
#include "tune/schedule/search_plan.h"
#include "tune/search.h"
#include "tune/search_folder.h"

namespace tandem::tune {

struct SearchContext {
  const config::LoadedTune& tune;  // its keys are those that are searched
  const SearchOptions& options;
  const SearchFolder& folder;
  const train::ModelMeasurer& measurer;
  Journal& journal;
  std::set<std::string>& warned;  // warnings that were given already (tune/trials/quiet_sink.h)
  train::SharedTokens& tokens;    // token ids of trials, which often are the same

  dist::ProcessGroup& group() const { return *options.group; }
  bool leads() const { return options.group->leads(); }
  std::filesystem::path base() const { return measurer.recipe().model.base; }
  const std::string& measure() const { return measurer.recipe().validation.measure; }
};

}  // namespace tandem::tune
