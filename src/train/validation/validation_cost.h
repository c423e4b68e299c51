// What the validations of a run cost of its time, and what makes it less.
#pragma once

#include <cstdint>
#include <string>

#include "config/recipe/recipe.h"
#include "train/validation/validator.h"

namespace tandem::train {

struct ValidationCost {
  double each_seconds = 0;
  int64_t count = 0;        // of the whole run, that before training among them
  double step_seconds = 0;  // of all steps together

  double seconds() const { return each_seconds * static_cast<double>(count); }
  double share() const {
    const double all = seconds() + step_seconds;
    return all > 0 ? seconds() / all : 0;
  }
  // From a quarter of the time on, a recipe is worth changing, if it is a second or more.
  bool large() const { return share() > 0.25 && seconds() >= 1; }
};

// "validation takes about 38 % of the time; less with --set validation.every=50% or --set
// validation.pool=500": the keys that help the recipe, with values. An interval is doubled unless
// it is the whole run. A pool is halved, but not below the judged documents, which are always
// ranked; where there are no others, fewer queries that are held out help.
std::string ValidationCostText(const ValidationCost& cost, const config::ValidationRecipe& recipe,
                               const RankedCorpus& ranked);

}  // namespace tandem::train
