// Runs that repeat the recipe and the seed of another, which says nothing more of chance.
#pragma once

#include <cstddef>
#include <vector>

#include "report/sweep/recipe_groups.h"

namespace tandem::report {

struct Repeat {
  size_t run = 0;
  size_t of = 0;             // the run of its group that has its seed
  bool same_values = false;  // the same losses and validations: a copy, or trained again alike
};

// Leaves each seed once in every group: its first run. Returns the others, in the groups' order.
// Runs without a seed in their record stay.
std::vector<Repeat> TakeOutRepeats(const std::vector<RunRecord>& runs,
                                   std::vector<RecipeGroup>& groups);

}  // namespace tandem::report
