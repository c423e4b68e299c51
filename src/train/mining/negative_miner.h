// Mines hard negatives while a run goes on, with the weights that the model has by then.
//
// A round encodes the distinct texts of the training queries and of the whole corpus as the model
// would after training (no dropout), ranks the corpus for every query and takes what [mining] asks
// for, as `tandem mine` does with such a model. It is a function of weights, data, recipe and its
// number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "config/recipe/recipe_parse.h"
#include "data/training_set.h"
#include "dist/process_group.h"
#include "model/dual_encoder.h"
#include "sampling/further_pool.h"
#include "search/mining/mined.h"
#include "search/mining/mining_task.h"
#include "search/retrieval/similarity_rows.h"
#include "tensor/machine/precision.h"
#include "train/inputs/run_prompts.h"
#include "train/observers/observer.h"

namespace tandem::train {

struct MiningRound {
  int64_t number = 0;    // from 0
  bool by_base = false;  // the weights are those that the run began with
};

struct MinedRound {
  sampling::FurtherPool pool;
  MiningReport report;
};

struct MinerOptions {
  tensor::Precision precision = tensor::Precision::kFp32;
  int threads = 1;                      // of the tokenizer
  RunPrompts prompts;                   // of the texts of the set
  dist::ProcessGroup* group = nullptr;  // that mines together; null: this process alone
};

class NegativeMiner {
 public:
  // Told where the round stands; returns false to interrupt it.
  using Tell = std::function<bool(const MiningStage& stage)>;

  // Mines for the examples `which` of `set`, in that order, by the recipe's [mining], which has
  // been checked (train/mining/mining_keys.h). All of it must outlive the miner. Throws
  // RecipeError for a range that begins beyond the corpus, and DataError for a corpus of one text.
  NegativeMiner(const config::LoadedRecipe& loaded, const data::TrainingSet& set,
                std::span<const uint32_t> which, const MinerOptions& options);

  // The documents that may be mined: the first of each text.
  std::span<const uint32_t> documents() const { return task_.document_of; }
  size_t queries() const { return task_.query_of.size(); }  // different texts

  // `examples` are those of `which`. A round that needs a file for its embeddings makes it in
  // `scratch`, goes on with what an interrupted one left there, and removes the folder when it is
  // done; without the call embeddings are always in memory. The base model's are in the cache.
  void set_examples(const sampling::Examples& examples) { examples_ = &examples; }
  void set_scratch(std::filesystem::path folder) { scratch_ = std::move(folder); }
  // Bytes that a round puts into `scratch` with embeddings of `width` numbers; 0: it stays empty.
  uint64_t ScratchBytes(int64_t width) const;

  // Throws RecipeError where mining.memory is below what a round by embeddings of `width` numbers
  // needs on this process's threads.
  void CheckMemory(int64_t width) const;

  // Nothing where `tell` interrupts it; it asks between blocks of texts and of the search. Of a
  // group all are interrupted where one is (from the search on: when they have searched for their
  // share of the queries). Throws OutputError as EmbedDistinct.
  std::optional<MinedRound> Mine(model::DualEncoder& model, const MiningRound& round,
                                 const Tell& tell) const;

  // As many documents at random for every query: what batches look like before anything is mined.
  sampling::FurtherPool StandIn() const;

 private:
  class Stage;
  search::SimilarityRows Embed(model::DualEncoder& model, model::TextKind kind,
                               const std::filesystem::path& folder, const Tell& tell) const;
  // Throws Stopped (negative_miner.cc) on all processes where one is interrupted.
  search::Mined Search(model::DualEncoder& model, const MiningRound& round, const Tell& tell) const;
  search::Mined SearchShare(const search::SimilarityRows& queries,
                            const search::SimilarityRows& documents, const MiningRound& round,
                            uint64_t memory, const Tell& tell) const;
  // Whether the embeddings fit half of mining.memory.
  bool AreSmall(int64_t width) const;
  bool InMemory(int64_t width) const;
  // What mining.memory leaves for the search.
  uint64_t SearchMemory(int64_t width, bool in_memory) const;
  uint64_t EmbeddingBytes(int64_t width) const;
  sampling::FurtherPool PoolOf(const search::Mined& mined) const;
  void RemoveScratch() const;

  const config::LoadedRecipe& loaded_;
  const data::TrainingSet& set_;
  std::span<const uint32_t> which_;
  MinerOptions options_;
  search::MiningTask task_;
  const sampling::Examples* examples_ = nullptr;
  std::filesystem::path scratch_;
};

}  // namespace tandem::train
