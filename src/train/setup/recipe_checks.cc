#include "train/setup/recipe_checks.h"

#include <fmt/format.h>

#include <set>
#include <string>

#include "eval/measure.h"
#include "train/checks/bank_memory.h"
#include "train/inputs/label_keys.h"
#include "train/mining/mining_keys.h"
#include "train/objective/training_objective.h"

namespace tandem::train {

void CheckMeasures(const config::LoadedRecipe& loaded) {
  const config::ValidationRecipe& validation = loaded.recipe.validation;
  if (!validation.ranks()) return;
  if (const std::string problem = eval::MeasureProblem(validation.measure); !problem.empty()) {
    throw loaded.ErrorAt("validation.measure", fmt::format("is no measure: {}", problem));
  }
  std::set<std::string> names = {eval::ParseMeasure(validation.measure).name()};
  for (const std::string& measure : validation.report) {
    if (const std::string problem = eval::MeasureProblem(measure); !problem.empty()) {
      throw loaded.ErrorAt("validation.report", fmt::format("names no measure: {}", problem));
    }
    if (!names.insert(eval::ParseMeasure(measure).name()).second) {
      throw loaded.ErrorAt("validation.report",
                           fmt::format("names {} again, which is measured already", measure));
    }
  }
}

namespace {

// A copy that meets another one must be no negative of it.
void CheckMasksCopies(const config::LoadedRecipe& loaded) {
  const bool given = loaded.positions.contains("sampling.no_duplicates");
  if (!given || !loaded.recipe.sampling.fills_batches() || loaded.recipe.data.masks.copies) return;
  throw loaded.ErrorAt("sampling.no_duplicates",
                       "is \"mask\", but data.masks.copies = false leaves copies that meet in a "
                       "batch unmasked; give true, false, or data.masks.copies = true");
}

}  // namespace

void CheckKeys(const config::LoadedRecipe& loaded) {
  CheckMasksCopies(loaded);
  CheckBankFits(loaded);
  const objective::Needs needs = NeedsOf(loaded.recipe.objective);
  CheckLabelKeys(loaded, needs);
  if (loaded.recipe.mining.enabled()) CheckMiningKeys(loaded, needs);
}

}  // namespace tandem::train
