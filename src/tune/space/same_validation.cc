#include "tune/space/same_validation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/hashes/running_hash.h"
#include "base/log.h"
#include "train/objective/training_objective.h"
#include "tune/trials/quiet_sink.h"

namespace tandem::tune {
namespace {

constexpr std::string_view kObjective = "objective.name";

// Whether the meaning of scores in lines decides what validation asks.
bool ComesFromLines(const config::ValidationRecipe& validation) {
  return validation.holdout ||
         (validation.data && std::filesystem::is_regular_file(*validation.data));
}

// A hash of the validation queries, of their judgements, and of what is relevant among them.
uint64_t HashOfValidation(const train::RunData& data, const config::DataRecipe& recipe) {
  RunningHash hash;
  const train::JudgedCorpus corpus = data.ValidationCorpus();
  for (const data::JudgedQuery& query : corpus.judged) {
    hash.Add(corpus.queries->id(query.query));
    hash.Add(corpus.queries->text(query.query));
    for (const data::Judgement& judgement : query.judgements) {
      hash.Add(corpus.documents->id(judgement.document));
      hash.Add(judgement.grade);
    }
  }
  hash.Add(data.RelevanceLevel(recipe));
  return hash.value();
}

auto FindObjectives(const config::LoadedTune& tune) {
  const auto& keys = tune.tune.keys;
  return std::find_if(keys.begin(), keys.end(), [](const config::SearchKey& key) {
    return key.path == kObjective && !key.values.empty();
  });
}

}  // namespace

std::vector<std::string> ObjectivesOfOtherValidations(const config::LoadedTune& tune,
                                                      const train::RunData& data) {
  const auto key = FindObjectives(tune);
  const config::Recipe& own = tune.recipe.recipe;
  if (key == tune.tune.keys.end() || !ComesFromLines(own.validation)) return {};
  const uint64_t expected = HashOfValidation(data, own.data);
  std::vector<std::string> others;
  for (const std::string& value : key->values) {
    config::Assignment values = {{std::string(kObjective), value}};
    const config::LoadedRecipe recipe = config::MakeTrialRecipe(tune, "trial", &values);
    if (recipe.recipe.objective.name == own.objective.name) continue;
    std::set<std::string> warned;
    const QuietSink quiet(warned);
    try {
      const train::RunData read =
          train::ReadRunData(recipe, train::NeedsOf(recipe.recipe.objective));
      if (HashOfValidation(read, recipe.recipe.data) != expected) others.push_back(value);
    } catch (const DataError&) {  // of what the objective needs and the data lack
    }
  }
  return others;
}

void CheckSameValidation(const config::LoadedTune& tune, const train::RunData& data) {
  const std::vector<std::string> others = ObjectivesOfOtherValidations(tune, data);
  if (others.empty()) return;
  throw tune.recipe.ErrorAt(
      "tune.objective.name",
      fmt::format("has {}, which reads the scores of lines otherwise than {} does, so that trials "
                  "would be compared on other queries or judgements; give a BEIR folder as "
                  "validation.data, or search the objectives apart",
                  fmt::join(others, ", "), tune.recipe.recipe.objective.name));
}

void KeepSameValidation(config::LoadedTune& tune, const train::RunData& data) {
  const std::vector<std::string> others = ObjectivesOfOtherValidations(tune, data);
  if (others.empty()) return;
  Note(
      fmt::format("not searched: objective.name = {}: it reads the scores of lines otherwise than "
                  "{} does, so that trials would be compared on other queries or judgements",
                  fmt::join(others, " or "), tune.recipe.recipe.objective.name));
  for (config::SearchKey& key : tune.tune.keys) {
    if (key.path != kObjective) continue;
    std::erase_if(key.values, [&others](const std::string& value) {
      return std::find(others.begin(), others.end(), value) != others.end();
    });
  }
  std::erase_if(tune.tune.keys, [](const config::SearchKey& key) {
    return key.path == kObjective && key.values.empty();
  });
}

}  // namespace tandem::tune
