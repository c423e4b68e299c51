#include "train/checks/bank_memory.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/process/memory.h"
#include "objective/catalogue.h"

namespace tandem::train {
namespace {

// Memory for each score of the bank's capacity, in bytes: one float32 in the bank, and two float64
// copies while the objective compares a batch with the bank. There are two banks, one for positives
// and one for negatives.
constexpr double kBytes = 2 * (4 + 8 + 8);

}  // namespace

void CheckBankFits(const config::LoadedRecipe& loaded) {
  const config::ObjectiveRecipe& recipe = loaded.recipe.objective;
  const objective::StatePlan plan = objective::FindObjective(recipe.name).StatesOf(recipe.params);
  const double wanted = kBytes * static_cast<double>(plan.bank);
  const auto usable = static_cast<double>(UsableMemory());
  if (wanted <= usable / 2) return;
  throw loaded.ErrorAt(
      "objective.bank",
      fmt::format("keeps {} positive and as many negative scores, which take {:.1f} GiB; at most "
                  "half of the {:.1f} GiB of memory may go there: give {} or less",
                  plan.bank, wanted / 0x1p30, usable / 0x1p30,
                  static_cast<int64_t>(usable / 2 / kBytes)));
}

}  // namespace tandem::train
