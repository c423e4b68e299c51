// The configurations of a search: values of its keys, drawn from a seed.
#pragma once

#include <cstdint>
#include <vector>

#include "config/tune/tune_recipe.h"

namespace tandem::tune {

// What a configuration is: the values of its trial's recipe, without those that do nothing there.
using config::Assignment;

// The values of all keys for draw number `draw` of a seed: of a list one of its values, of a range
// a number with three significant digits, uniform in it, or in its logarithm.
Assignment DrawValues(const std::vector<config::SearchKey>& keys, uint64_t seed, uint64_t draw);

// Throws RecipeError at a key of [tune] that does nothing in any trial, as lora.rank where all
// trials train all weights: 2,000 draws, fewer once each key has done something, show none where it
// does.
void CheckKeysDoSomething(const config::LoadedTune& tune);

// Different configurations in the order in which they are tried. The first is the recipe as it is,
// without values. At most `most`; fewer where the space has no more: after a hundred draws in a row
// that bring nothing new it is taken for exhausted. Throws RecipeError for values that make no
// recipe together.
std::vector<Assignment> DrawConfigurations(const config::LoadedTune& tune, uint64_t seed,
                                           int64_t most);

}  // namespace tandem::tune
