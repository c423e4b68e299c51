#include "train/setup/resolve_objective.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "objective/catalogue.h"
#include "objective/common_params.h"
#include "weights/folders/tandem_file.h"

namespace tandem::train {
namespace {

// Takes over one number of tandem.json, unless the recipe gives its own. Returns a note about it,
// or "" if it takes none.
std::string Continue(config::LoadedRecipe& loaded, std::string_view name, double value) {
  if (loaded.positions.contains(fmt::format("objective.{}", name))) return "";
  const std::string problem = loaded.recipe.objective.params.Set(name, value);
  if (!problem.empty()) {
    throw ModelError(
        (std::filesystem::path(loaded.recipe.model.base) / weights::kTandemFile).native(), "",
        fmt::format("its {} {}; give objective.{}", name, problem, name));
  }
  return fmt::format("{} {}", name, value);
}

std::string ContinueCalibration(config::LoadedRecipe& loaded, const model::DualEncoder& model) {
  const config::ObjectiveRecipe& objective = loaded.recipe.objective;
  const std::optional<weights::Calibration>& calibration = model.calibration();
  if (!calibration) return "";
  // A calibration that was fitted to judgements gives probabilities for the documents of a ranking.
  // It is no starting value for a training batch.
  const std::optional<weights::LearnedScale> learned = calibration->Learned();
  const std::string file = fmt::format("{} of {}", weights::kTandemFile, loaded.recipe.model.base);
  if (!learned || !objective::FindObjective(objective.name).StatesOf(objective.params).logistic) {
    return fmt::format("the probability in {} is not kept, since training makes other scores",
                       file);
  }
  const std::string similarity = objective.params.String("similarity_kind");
  if (calibration->similarity != similarity) {
    return fmt::format("scale and bias of {} are for {}, not for {}: {} starts without them", file,
                       calibration->similarity, similarity, objective.name);
  }
  std::vector<std::string> taken = {Continue(loaded, "scale", learned->scale),
                                    Continue(loaded, "bias", learned->bias)};
  std::erase(taken, "");
  if (taken.empty()) return "";
  return fmt::format("{} continues from {} of {}", objective.name, fmt::join(taken, " and "), file);
}

// Throws RecipeError for a bound of masks that no cosine lies above, which would mask nothing.
void CheckCosines(const config::LoadedRecipe& loaded) {
  const config::MaskRecipe& masks = loaded.recipe.data.masks;
  for (const auto& [key, bound] :
       {std::pair{"data.masks.false_negative_score", masks.false_negative_score},
        {"data.masks.same_tower_score", masks.same_tower_score}}) {
    if (!bound || *bound < 1) continue;
    throw loaded.ErrorAt(key, fmt::format("is {}, and scores are cosines, which are 1 at most: it "
                                          "would mask nothing. Leave it out, or give a number "
                                          "below 1",
                                          *bound));
  }
}

}  // namespace

std::vector<std::string> ResolveObjective(config::LoadedRecipe& loaded,
                                          const model::DualEncoder& model) {
  config::ObjectiveRecipe& objective = loaded.recipe.objective;
  const std::string similarity = objective::SimilarityOf(objective.params, model.similarity());
  objective.params.Set("similarity_kind", similarity);
  if (similarity == "cosine") CheckCosines(loaded);
  std::vector<std::string> notes;
  if (similarity != model.similarity()) {
    notes.push_back(fmt::format(
        "{} trains by {}, {} compares by {}: validation and the saved model compare by "
        "{} too (objective.similarity_kind)",
        objective.name, similarity, loaded.recipe.model.base, model.similarity(), similarity));
  }
  notes.push_back(ContinueCalibration(loaded, model));
  std::erase(notes, "");
  return notes;
}

}  // namespace tandem::train
