// Measures model folders as a run's validation measures its model.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/process/interrupt.h"
#include "config/recipe/recipe_parse.h"
#include "dist/process_group.h"
#include "model/dual_encoder.h"
#include "train/inputs/run_data.h"
#include "train/setup/resolved_run.h"
#include "train/validation/validator.h"

namespace tandem::train {

// Says whose settings a model is measured with.
enum class SettingsOf {
  kFolder,  // its folder's
  kRecipe   // lengths and prompts of the recipe, as a run would start with, else its folder's
};

class ModelMeasurer {
 public:
  // Reads the data of the recipe, whose validation ranks documents. Throws as ReadRunData does, and
  // RecipeError for a recipe without validation or one that validates by the loss.
  ModelMeasurer(config::LoadedRecipe loaded, dist::ProcessGroup* group);
  ModelMeasurer(const ModelMeasurer&) = delete;
  ModelMeasurer& operator=(const ModelMeasurer&) = delete;

  // The values of a model, compared by its own similarity. Throws ModelError, and Interrupted where
  // `stop` asks for it.
  Validated Measure(const std::filesystem::path& folder, SettingsOf settings,
                    const StopRequest& stop) const;

  // The values of a model by the recipe's measure on a split of a BEIR folder, whose documents are
  // all ranked. Measures that ask from which grade on a document is relevant take
  // `relevance_level`. Throws as data::LoadJudgedData does too.
  struct JudgedFolder {
    std::filesystem::path folder;
    std::string split;
    double relevance_level = 1;
  };
  Validated MeasureOn(const JudgedFolder& data, const std::filesystem::path& folder,
                      SettingsOf settings, const StopRequest& stop) const;

  const RunData& data() const { return data_; }
  const config::Recipe& recipe() const { return run_.recipe(); }

 private:
  std::unique_ptr<model::DualEncoder> Load(const std::filesystem::path& folder,
                                           SettingsOf settings) const;

  ResolvedRun run_;
  RunData data_;
};

}  // namespace tandem::train
