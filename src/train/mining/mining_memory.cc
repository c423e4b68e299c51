#include "train/mining/mining_memory.h"

#include <fmt/format.h>

#include "base/byte_size.h"
#include "search/mining_by_embeddings/mine.h"
#include "train/mining/mining_keys.h"

namespace tandem::train {

search::MiningTask MakeRunMiningTask(const config::LoadedRecipe& loaded, const RunData& data) {
  search::MiningTask task = search::MakeMiningTask(
      data.set, data.training, {.own_text = loaded.recipe.data.masks.query_text});
  CheckRangeFits(loaded, task.document_of.size());
  const auto negatives = static_cast<uint64_t>(loaded.recipe.mining.negatives);
  const size_t queries = data.training.size();
  if (queries * negatives > UINT32_MAX) {
    throw loaded.ErrorAt("mining.negatives",
                         fmt::format("asks for {} of each of {} queries, {} in all; at most {} can "
                                     "be kept",
                                     negatives, queries, queries * negatives, UINT32_MAX));
  }
  return task;
}

MiningMemory::MiningMemory(const config::Recipe& recipe, const search::MiningTask& task,
                           int64_t width)
    : memory_(MiningMemoryOf(recipe)),
      embedding_bytes_(sizeof(float) * static_cast<uint64_t>(width) *
                       (task.document_of.size() + task.query_of.size())) {}

void CheckMiningMemory(const ResolvedRun& run, const search::MiningTask& task, int64_t width) {
  const MiningMemory memory(run.recipe(), task, width);
  const size_t least =
      search::LeastMiningMemory(task, MiningRulesOf(run.recipe(), 0), static_cast<size_t>(width),
                                tensor::HostPrecision(run.precision));
  if (memory.ForSearch(true) >= least) return;
  const uint64_t held = memory.embedding_bytes() <= least / 2 ? memory.embedding_bytes() : 0;
  throw run.loaded.ErrorAt(
      "mining.memory",
      fmt::format("is \"{}\", less than the {} that a round needs on {} threads; give more, or "
                  "fewer threads",
                  run.recipe().mining.memory, FormatByteSize(held + least), run.threads));
}

}  // namespace tandem::train
