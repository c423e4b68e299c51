// Decides which documents a run may mine, and how a round of mining divides `mining.memory`. Both
// are checked before token ids are made.
#pragma once

#include <cstdint>

#include "config/recipe/recipe_parse.h"
#include "search/mining/mining_task.h"
#include "train/inputs/run_data.h"
#include "train/setup/resolved_run.h"

namespace tandem::train {

// Makes the mining task for the training queries. Throws RecipeError for a range that begins beyond
// the corpus and for more negatives than can be kept, and DataError for a corpus of one text.
search::MiningTask MakeRunMiningTask(const config::LoadedRecipe& loaded, const RunData& data);

class MiningMemory {
 public:
  // `width` is the number of components of an embedding.
  MiningMemory(const config::Recipe& recipe, const search::MiningTask& task, int64_t width);

  uint64_t embedding_bytes() const { return embedding_bytes_; }  // of all queries and documents
  // Whether all embeddings fit into half of the memory. Otherwise a round writes them to a file.
  bool AreSmall() const { return embedding_bytes_ <= memory_ / 2; }
  // Returns the bytes that are left for the search.
  uint64_t ForSearch(bool in_memory) const {
    return in_memory && AreSmall() ? memory_ - embedding_bytes_ : memory_;
  }

 private:
  uint64_t memory_;
  uint64_t embedding_bytes_;
};

// Throws RecipeError if mining.memory is less than what a round needs with embeddings of `width`
// components on this process's threads.
void CheckMiningMemory(const ResolvedRun& run, const search::MiningTask& task, int64_t width);

}  // namespace tandem::train
