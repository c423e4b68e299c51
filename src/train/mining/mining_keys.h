// What the table [mining] of a recipe asks for, checked.
#pragma once

#include <cstddef>
#include <cstdint>

#include "config/recipe/recipe_parse.h"
#include "objective/catalogue.h"
#include "search/mining/mining_rules.h"

namespace tandem::train {

// Throws RecipeError at the key that is at fault: `every` of 0, or of an objective that compares
// documents by a teacher's scores, which mined ones lack; `data.negatives` of 0; `range` that is no
// range; more `negatives` than ranks; `memory` that is no amount. The recipe has [mining].
void CheckMiningKeys(const config::LoadedRecipe& loaded, const objective::Needs& needs);

// The rules of round `round`. The keys have been checked.
search::MiningRules MiningRulesOf(const config::Recipe& recipe, int64_t round);

// Throws RecipeError where the range begins after the last of so many different texts.
void CheckRangeFits(const config::LoadedRecipe& loaded, size_t documents);

uint64_t MiningMemoryOf(const config::Recipe& recipe);  // bytes

}  // namespace tandem::train
