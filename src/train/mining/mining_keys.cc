#include "train/mining/mining_keys.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "base/byte_size.h"

namespace tandem::train {

void CheckMiningKeys(const config::LoadedRecipe& loaded, const objective::Needs& needs) {
  const config::Recipe& recipe = loaded.recipe;
  const config::MiningRecipe& mining = recipe.mining;
  if (mining.every->IsZero()) {
    throw loaded.ErrorAt("mining.every", "must be more than 0; to mine never, leave out [mining]");
  }
  if (needs.teacher) {
    throw loaded.ErrorAt("mining.every",
                         fmt::format("does not go with objective {}, which compares documents by a "
                                     "teacher's scores: mined ones have none; leave out [mining]",
                                     recipe.objective.name));
  }
  if (recipe.data.negatives == 0) {
    throw loaded.ErrorAt("data.negatives",
                         "is 0, so that no step would draw what is mined; give at least 1, or "
                         "leave out [mining]");
  }
  const std::optional<search::RankRange> ranks = search::ParseRankRange(mining.range);
  if (!ranks || ranks->begin >= ranks->end) {
    throw loaded.ErrorAt(
        "mining.range",
        fmt::format("must be FIRST:END, two ranks that count from 0 with FIRST below END, as "
                    "\"10:200\"; found \"{}\"",
                    mining.range));
  }
  if (static_cast<size_t>(mining.negatives) > ranks->end - ranks->begin) {
    throw loaded.ErrorAt("mining.negatives",
                         fmt::format("asks for {}, but mining.range = \"{}\" has {} ranks",
                                     mining.negatives, mining.range, ranks->end - ranks->begin));
  }
  if (!ParseByteSize(mining.memory)) {
    throw loaded.ErrorAt(
        "mining.memory",
        fmt::format("must be an amount as \"2GiB\" or \"500MiB\", found \"{}\"", mining.memory));
  }
}

search::MiningRules MiningRulesOf(const config::Recipe& recipe, int64_t round) {
  const config::MiningRecipe& mining = recipe.mining;
  return {.ranks = search::ParseRankRange(mining.range).value(),
          .negatives = static_cast<size_t>(mining.negatives),
          .absolute_margin = mining.absolute_margin,
          .relative_margin = mining.relative_margin,
          .random = mining.random,
          .seed = static_cast<uint64_t>(recipe.seed),
          .round = static_cast<uint64_t>(round)};
}

void CheckRangeFits(const config::LoadedRecipe& loaded, size_t documents) {
  const size_t begin = search::ParseRankRange(loaded.recipe.mining.range).value().begin;
  if (begin + 1 < documents) return;
  throw loaded.ErrorAt("mining.range",
                       fmt::format("\"{}\" begins beyond the corpus, which has {} different texts; "
                                   "give a lower range",
                                   loaded.recipe.mining.range, documents));
}

uint64_t MiningMemoryOf(const config::Recipe& recipe) {
  return ParseByteSize(recipe.mining.memory).value();
}

}  // namespace tandem::train
