// Checks the keys of a recipe's table [mining], and makes the rules of mining from them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "config/recipe/recipe_parse.h"
#include "objective/catalogue.h"
#include "search/mining/mining_rules.h"

namespace tandem::train {

// Throws RecipeError at the key with the error: `every` of 0; [mining] together with an objective
// that compares documents by teacher scores, which mined documents lack; `data.negatives` of 0; a
// `range` that is not two ascending ranks; more `negatives` than ranks; a `memory` that is not an
// amount. The recipe must have [mining].
void CheckMiningKeys(const config::LoadedRecipe& loaded, const objective::Needs& needs);

// Returns the rules of mining round `round`. The keys must have been checked.
search::MiningRules MiningRulesOf(const config::Recipe& recipe, int64_t round);

// Throws RecipeError if the range of ranks begins beyond a corpus of so many distinct texts.
void CheckRangeFits(const config::LoadedRecipe& loaded, size_t documents);

uint64_t MiningMemoryOf(const config::Recipe& recipe);  // bytes

}  // namespace tandem::train
