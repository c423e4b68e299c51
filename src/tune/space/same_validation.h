// Trials are compared on the same queries with the same judgements. An objective may read the
// scores of lines as grades where another one does not, so that validation queries that come from
// lines would have other judgements, or be others.
#pragma once

#include <string>
#include <vector>

#include "config/tune/tune_recipe.h"
#include "train/inputs/run_data.h"

namespace tandem::tune {

// The values of `objective.name` in the space that validate on other queries, or with other
// judgements, than the recipe as it is, whose data are `data`; as TOML writes them. An objective
// that cannot use the data at all is none of them: its trial says so. Reads the data again for
// each objective where queries are held out or validation.data is a file of lines.
std::vector<std::string> ObjectivesOfOtherValidations(const config::LoadedTune& tune,
                                                      const train::RunData& data);

// The user's space: throws RecipeError for such an objective.
void CheckSameValidation(const config::LoadedTune& tune, const train::RunData& data);
// The default space: takes them out, with a note.
void KeepSameValidation(config::LoadedTune& tune, const train::RunData& data);

}  // namespace tandem::tune
