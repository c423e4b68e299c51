// Mines hard negatives during a run, with the model's current weights.
//
// A round encodes the distinct texts of the training queries and of the whole corpus as the trained
// model would (no dropout), ranks the corpus for every query and takes the documents that [mining]
// asks for, as `tandem mine` does with such a model. The result depends only on the weights, the
// data, the recipe and the number of the round.
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
  bool by_base = false;  // the weights are those of the base model
};

struct MinedRound {
  sampling::ExtraPool pool;
  MiningReport report;
};

class NegativeMiner {
 public:
  // Is told the progress of the round; returns false to interrupt it.
  using Tell = std::function<bool(const MiningStage& stage)>;

  // Mines for the training queries of `inputs`, in their order, by the recipe's [mining], which
  // must have been checked (train/mining/mining_keys.h, mining_memory.h). `inputs` must outlive the
  // miner.
  explicit NegativeMiner(const RunInputs& inputs) : inputs_(inputs) {}

  // The documents that may be mined. Of documents with equal texts, only the first may be.
  std::span<const uint32_t> documents() const { return task().document_of; }
  size_t queries() const { return task().query_of.size(); }  // number of distinct texts

  // Sets the folder for files of embeddings. A round that needs such a file makes it there,
  // continues with what an interrupted round left there, and removes the folder when it is done.
  // Without this call, embeddings are always kept in memory. Embeddings of the base model are kept
  // in the cache instead.
  void set_scratch(std::filesystem::path folder) { scratch_ = std::move(folder); }
  // Returns the bytes that a round writes to the scratch folder, with embeddings of `width`
  // components; 0 if it writes nothing.
  uint64_t ScratchBytes(int64_t width) const;

  // Mines one round. Returns nothing if `tell` interrupts the round; `tell` is called between
  // blocks of texts and of the search. If one process of a group is interrupted, all are (during
  // the search, once they have searched for their share of the queries). Throws OutputError as
  // EmbedDistinct does.
  std::optional<MinedRound> Mine(model::DualEncoder& model, const MiningRound& round,
                                 const Tell& tell) const;

  // Returns as many random documents for every query as would be mined, for planning batches before
  // anything is mined.
  sampling::ExtraPool StandIn() const;

 private:
  class Stage;
  search::SimilarityRows Embed(model::DualEncoder& model, model::TextKind kind,
                               const std::filesystem::path& folder, const Tell& tell) const;
  // Throws RoundStopped (negative_miner.cc) on all processes if one of them is interrupted.
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
