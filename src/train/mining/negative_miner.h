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

#include "model/dual_encoder.h"
#include "sampling/extra_pool.h"
#include "search/mining/mined.h"
#include "search/retrieval/similarity_rows.h"
#include "train/observers/observer.h"
#include "train/setup/run_inputs.h"

namespace tandem::train {

struct MiningRound {
  int64_t number = 0;    // from 0
  bool by_base = false;  // the weights are those that the run began with
};

struct MinedRound {
  sampling::ExtraPool pool;
  MiningReport report;
};

class NegativeMiner {
 public:
  // Told where the round stands; returns false to interrupt it.
  using Tell = std::function<bool(const MiningStage& stage)>;

  // Mines for the training queries of `inputs`, in their order, by the recipe's [mining], which has
  // been checked (train/mining/mining_keys.h, mining_memory.h). `inputs` must outlive the miner.
  explicit NegativeMiner(const RunInputs& inputs) : inputs_(inputs) {}

  // The documents that may be mined: the first of each text.
  std::span<const uint32_t> documents() const { return task().document_of; }
  size_t queries() const { return task().query_of.size(); }  // different texts

  // A round that needs a file for its embeddings makes it in `scratch`, goes on with what an
  // interrupted one left there, and removes the folder when it is done; without the call embeddings
  // are always in memory. The base model's are in the cache.
  void set_scratch(std::filesystem::path folder) { scratch_ = std::move(folder); }
  // Bytes that a round puts into `scratch` with embeddings of `width` numbers; 0: it stays empty.
  uint64_t ScratchBytes(int64_t width) const;

  // Nothing where `tell` interrupts it; it asks between blocks of texts and of the search. Of a
  // group all are interrupted where one is (from the search on: when they have searched for their
  // share of the queries). Throws OutputError as EmbedDistinct.
  std::optional<MinedRound> Mine(model::DualEncoder& model, const MiningRound& round,
                                 const Tell& tell) const;

  // As many documents at random for every query: what batches look like before anything is mined.
  sampling::ExtraPool StandIn() const;

 private:
  class Stage;
  search::SimilarityRows Embed(model::DualEncoder& model, model::TextKind kind,
                               const std::filesystem::path& folder, const Tell& tell) const;
  // Throws Stopped (negative_miner.cc) on all processes where one is interrupted.
  search::Mined Search(model::DualEncoder& model, const MiningRound& round, const Tell& tell) const;
  search::Mined SearchShare(const search::SimilarityRows& queries,
                            const search::SimilarityRows& documents, const MiningRound& round,
                            uint64_t memory, const Tell& tell) const;
  sampling::ExtraPool PoolOf(const search::Mined& mined) const;
  void RemoveScratch() const;

  const search::MiningTask& task() const { return *inputs_.mining; }
  const config::Recipe& recipe() const { return inputs_.recipe(); }
  dist::ProcessGroup* group() const { return inputs_.run.group; }

  const RunInputs& inputs_;
  std::filesystem::path scratch_;
};

}  // namespace tandem::train
