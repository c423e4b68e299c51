#include "train/checks/agree_on_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/json/json.h"
#include "config/recipe/recipe_text.h"
#include "dist/gather_json.h"
#include "tensor/isa/isa.h"
#include "train/run/run_records.h"

namespace tandem::train {
namespace {

// The values that must be equal on all processes of a group. The recipe's keys are listed one by
// one, so that an error can name the key that differs. The key `threads` is left out because it may
// differ, and only the last part of each path is compared.
Json Described(const RunInputs& inputs, const std::string& version) {
  Json keys = Json::array();
  const config::Recipe recipe = PortableRecipe(inputs.recipe());
  for (const config::RecipeKey& key : config::RecipeKeys(recipe, inputs.run.loaded.catalogues)) {
    if (key.path() == "threads") continue;
    keys.push_back({key.path(), config::FormatValue(key.value)});
  }
  return {{"version", version},
          {"isa", tensor::IsaName()},
          {"recipe", std::move(keys)},
          {"data", inputs.fingerprints.data},
          {"base", inputs.fingerprints.base},
          {"adapter", inputs.fingerprints.adapter}};
}

// "train.batch = 32, and rank 0 train.batch = 64" for the first key that differs; "" if none does.
std::string FirstOtherKey(const Json& own, const Json& first) {
  const auto text = [](const Json& keys, size_t i) {
    return i < keys.size() ? fmt::format("{} = {}", keys[i][0].get<std::string>(),
                                         keys[i][1].get<std::string>())
                           : std::string("no such key");
  };
  for (size_t i = 0; i < std::max(own.size(), first.size()); ++i) {
    if (text(own, i) != text(first, i)) {
      return fmt::format("{}, and rank 0 {}", text(own, i), text(first, i));
    }
  }
  return "";
}

void Compare(const RunInputs& inputs, const Json& other, const Json& first, size_t rank) {
  for (const char* what : {"version", "isa"}) {
    if (other.at(what) == first.at(what)) continue;
    throw UsageError(fmt::format(
        "rank {} {} {}, and rank 0 {}: all processes of a job need the same{}", rank,
        what == std::string("isa") ? "computes with" : "runs Tandem",
        other.at(what).get<std::string>(), first.at(what).get<std::string>(),
        what == std::string("isa") ? "; set TANDEM_ISA to what all machines have" : " program"));
  }
  if (other.at("recipe") != first.at("recipe")) {
    throw UsageError(fmt::format("the recipe of rank {} has {}: give all processes the same recipe",
                                 rank, FirstOtherKey(other.at("recipe"), first.at("recipe"))));
  }
  if (other.at("data") != first.at("data")) {
    throw DataError(fmt::format("{}", fmt::join(inputs.recipe().data.paths(), ", ")), 0, "",
                    fmt::format("the documents, queries or judgements of rank {} are not those of "
                                "rank 0: give all processes the same data",
                                rank));
  }
  for (const char* what : {"base", "adapter"}) {
    if (other.at(what) == first.at(what)) continue;
    throw ModelError(
        what == std::string("base") ? inputs.recipe().model.base
                                    : inputs.recipe().model.adapter.value_or(""),
        "",
        fmt::format("the weights, settings or tokenizer of rank {} are not those of rank 0: give "
                    "all processes the same model",
                    rank));
  }
}

}  // namespace

void AgreeOnRun(const RunInputs& inputs, const std::string& version) {
  const std::vector<Json> all = dist::AllGatherJson(*inputs.run.group, Described(inputs, version));
  for (size_t rank = 1; rank < all.size(); ++rank) Compare(inputs, all[rank], all.front(), rank);
}

}  // namespace tandem::train
