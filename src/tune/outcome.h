// What a search has come to, as its journal says.
#pragma once

#include <string>

#include "tune/search_context.h"

namespace tandem::tune {

// The table of arms and the sentences under it: the verdict, what the test said, where the model
// and its recipe are. "json" is one object of all rows but "plan".
std::string OutcomeText(const SearchContext& search, const SearchPlan& plan);

// What the test said of the choice; "" where it was not looked at.
std::string TestText(const Journal& journal, const std::string& measure);

// Writes recipe.toml, the recipe of the choice with its comment, where there is a choice.
void WriteChosenRecipe(const SearchContext& search);

}  // namespace tandem::tune
