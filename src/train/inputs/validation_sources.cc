#include "train/inputs/validation_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "base/log.h"
#include "base/random.h"
#include "config/recipe/recipe_fields.h"
#include "config/recipe/sources.h"
#include "data/judgements/judged_data.h"
#include "data/read_dataset.h"
#include "train/inputs/label_keys.h"

namespace tandem::train {
namespace {

// Leaves `count` of the judged queries, in the order of the data, and the judgements of these.
void Draw(size_t count, uint64_t seed, ValidationSource& source) {
  std::vector<data::JudgedQuery>& judged = source.dataset.judged;
  std::vector<size_t> order(judged.size());
  std::iota(order.begin(), order.end(), 0);
  RandomStream({seed, "validation queries"}).Shuffle(std::span(order));
  order.resize(count);
  std::sort(order.begin(), order.end());
  std::vector<data::JudgedQuery> drawn;
  for (const size_t i : order) drawn.push_back(std::move(judged[i]));
  judged = std::move(drawn);
  if (!source.qrels) return;
  data::Qrels left;
  for (const data::JudgedQuery& query : judged) {
    const std::string_view id = source.dataset.queries.id(query.query);
    for (const data::GradedDocument& one : source.qrels->Find(id)->judgements) {
      left.Add(id, one.document, one.grade, one.line);
    }
  }
  source.qrels = std::move(left);
}

// Applies the source's key `queries`.
void DrawQueries(const config::ValidationSourceRecipe& recipe, uint64_t seed,
                 ValidationSource& source) {
  const size_t all = source.dataset.judged.size();
  const std::string documents = fmt::format("{} documents", source.dataset.documents.size());
  const auto wanted = static_cast<size_t>(recipe.queries.value_or(static_cast<int64_t>(all)));
  if (wanted < all) {
    Draw(wanted, seed, source);
    Note(fmt::format("validation on {}: {} of {} judged queries, {}", source.name, wanted, all,
                     documents));
  } else {
    Note(fmt::format("validation on {}: {}{} judged queries, {}", source.name,
                     wanted > all ? "all " : "", all, documents));
  }
}

ValidationSource ReadOne(const config::LoadedRecipe& loaded, const objective::Needs& needs,
                         size_t place) {
  const config::ValidationSourceRecipe& recipe = loaded.recipe.validation.sources[place];
  ValidationSource source;
  if (!config::HoldsLines(recipe.path)) {
    data::JudgedData judged = data::LoadJudgedData(recipe.path, recipe.split.value_or("dev"));
    source.dataset = std::move(judged.dataset);
    source.qrels = std::move(judged.qrels);
  } else if (recipe.split) {
    throw loaded.ErrorAt(
        fmt::format("validation.source.{}.split", place + 1),
        fmt::format("does nothing here: {} is a file of lines, which has no splits", recipe.path));
  } else {
    source.dataset = data::ReadDataset(recipe.path, "auto", "dev", LineRulesOf(loaded));
  }
  UseScoresOfRanked(source.dataset, loaded, needs);
  return source;
}

}  // namespace

std::vector<ValidationSource> ReadValidationSources(const config::LoadedRecipe& loaded,
                                                    const objective::Needs& needs) {
  const config::ValidationRecipe& recipe = loaded.recipe.validation;
  const std::vector<std::string> names = config::NamesOf(recipe.sources);
  std::vector<ValidationSource> sources;
  for (size_t i = 0; i < recipe.sources.size(); ++i) {
    sources.push_back(ReadOne(loaded, needs, i));
    sources.back().name = names[i];
    DrawQueries(recipe.sources[i], static_cast<uint64_t>(loaded.recipe.seed), sources.back());
  }
  return sources;
}

}  // namespace tandem::train
