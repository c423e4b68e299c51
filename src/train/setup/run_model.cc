#include "train/setup/run_model.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "base/log.h"
#include "config/recipe/sources.h"
#include "train/setup/training_options.h"

namespace tandem::train {
namespace {

std::optional<size_t> Length(const std::optional<int64_t>& tokens) {
  if (!tokens) return std::nullopt;
  return static_cast<size_t>(*tokens);
}

weights::PoolingChange PoolingOf(const config::ModelRecipe& recipe) {
  weights::PoolingChange change{.mode = std::nullopt, .include_prompt = recipe.include_prompt};
  if (recipe.pooling) change.mode = weights::PoolingModeFromName(*recipe.pooling);
  return change;
}

}  // namespace

std::unique_ptr<model::DualEncoder> LoadRunModel(const config::LoadedRecipe& loaded) {
  const config::ModelRecipe& model = loaded.recipe.model;
  if (model.adapter && model.adapter->empty()) {
    throw loaded.ErrorAt("model.adapter", "is empty; give a folder, or leave the key out");
  }
  const model::LoadOptions options{.dropout = model.dropout,
                                   .is_causal = model.is_causal,
                                   .layers = model.layers,
                                   .reinitialize_layers = model.reinitialize_layers,
                                   .max_query_tokens = Length(model.max_query_tokens),
                                   .max_document_tokens = Length(model.max_document_tokens),
                                   .query_prompt = model.query_prompt,
                                   .document_prompt = model.document_prompt,
                                   .towers = weights::TowersFromName(model.towers),
                                   .document_folder = model.document_base.value_or(""),
                                   .head = model.head,
                                   .projection = model.projection,
                                   .seed = static_cast<uint64_t>(loaded.recipe.seed),
                                   .pooling = PoolingOf(model),
                                   .dimensions = 0,
                                   .training = TrainingOptionsOf(loaded.recipe)};
  try {
    return model::DualEncoder::Load(model.base, options);
  } catch (const model::TrainingProblem& problem) {
    throw loaded.ErrorAt(problem.key(), problem.what());
  }
}

void UseDimensions(const config::LoadedRecipe& loaded, std::span<const objective::Width> widths,
                   model::DualEncoder& model) {
  if (widths.empty()) return;
  const int64_t widest = widths.front().numbers, all = model.embedding_width();
  if (widest > all) {
    throw loaded.ErrorAt(
        "model.dimensions",
        fmt::format("names {}, but embeddings of {} have {} numbers; name at most these, or give "
                    "model.projection",
                    widest, loaded.recipe.model.base, all));
  }
  model.set_saved_dimensions(widest < all ? widest : 0);
  if (widest == all) return;
  Warn(
      fmt::format("model.dimensions has not the whole width, {}: numbers {} to {} of embeddings "
                  "are not trained, and the model is saved with truncate_dim {}",
                  all, widest + 1, all, widest));
}

std::map<std::string, std::string> TaskPrompts(const config::LoadedRecipe& loaded) {
  const std::vector<config::SourceRecipe>& sources = loaded.recipe.data.sources;
  std::map<std::string, std::string> prompts;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i].task) continue;
    const std::string& task = *sources[i].task;
    const auto query = config::QueryPromptOf(sources, i);
    const auto document = config::DocumentPromptOf(sources, i);
    if ((query || document) && (task == "query" || task == "document")) {
      throw loaded.ErrorAt(
          fmt::format("data.source.{}.task", i + 1),
          fmt::format("is \"{}\", under which the model saves its own prompt; the prompts of a "
                      "task are saved under its name, so give it another one",
                      task));
    }
    if (query) prompts[task] = *query;
    if (document) prompts[task + "_document"] = *document;
  }
  return prompts;
}

}  // namespace tandem::train
