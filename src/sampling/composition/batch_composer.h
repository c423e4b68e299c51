// Makes batches of draws by the rules of a recipe: how many queries or tokens a batch has, whether
// they are of one task and of similar length, and whether copies may meet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "sampling/composition/composition.h"
#include "sampling/composition/draw_tokens.h"
#include "sampling/composition/epochs.h"
#include "sampling/order.h"
#include "sampling/pairs.h"
#include "sampling/sampler.h"

namespace tandem::sampling {

class BatchComposer {
 public:
  // `pairs`, tasks and lengths of the options must outlive this. Throws std::invalid_argument where
  // tasks or lengths are not as many as queries and documents, and DrawTooLong.
  BatchComposer(const Pairs& pairs, const SamplerOptions& options);

  // Says whether batches are made of any draws by number alone (sampling/composition/epochs.h);
  // Compose is not meant for them then.
  bool plain() const { return !by_task_ && !similar_lengths_ && !by_tokens(); }
  bool by_tokens() const { return batch_tokens_ > 0; }

  // The limit of a batch, and the part of it that a draw takes: in queries, or in tokens.
  size_t limit() const { return by_tokens() ? batch_tokens_ : batch_; }
  uint32_t SizeOf(const Draw& draw) const { return by_tokens() ? tokens_.AtMost(draw) : 1; }
  // 0 for all draws where batches may mix tasks.
  uint32_t TaskOf(const Draw& draw) const { return by_task_ ? tasks_[draw.query] : 0; }

  // The batches of `draws`, in random order:
  //  - Where batches are of one task, each task's draws are composed apart from the others'.
  //  - For similar lengths, windows of kWindowBatches batches are sorted by the tokens of query and
  //    paired document, and neighbours become batches.
  //  - Batches of a task are of even size: ComposeEvenly's, or ComposeByTokens's.
  //  - Copies meet where they must, if the options allow it.
  // With similar lengths the order of batches is a BalancedOrder. Where sources come in turns
  // (Mixture::kRoundRobin), so do the batches of tasks. `random` decides the rest.
  DrawBatches Compose(std::span<const Draw> draws, RandomStream random) const;

  // Says how many batches Compose makes of `draws`, where batches are limited by queries.
  size_t Count(std::span<const Draw> draws) const { return Count(draws, copies_); }
  size_t Count(std::span<const Draw> draws, Copies copies) const;

  Copies copies() const { return copies_; }
  void set_copies(Copies copies) { copies_ = copies; }

  // Estimates, where batches are limited by tokens, how many batches so many draws are, if they
  // have as many tokens as queries have on average.
  size_t EstimateBatches(size_t draws) const;

  // transformers' group_by_length uses as many.
  static constexpr size_t kWindowBatches = 50;

 private:
  using Places = std::vector<uint32_t>;  // of draws

  // One list for each task that occurs, by its number.
  std::vector<Places> ByTask(std::span<const Draw> draws) const;
  void SortByLength(std::span<const Draw> draws, Places& places) const;
  // The batch of each of the places, from 0.
  std::vector<uint32_t> Cut(std::span<const Draw> draws, const Places& places,
                            RandomStream random) const;

  const Pairs& pairs_;
  DrawTokens tokens_;
  std::span<const uint32_t> tasks_;
  size_t batch_;
  size_t batch_tokens_;
  bool by_task_;
  bool similar_lengths_;
  bool no_duplicates_;
  Copies copies_;
  bool in_turns_;  // tasks
};

}  // namespace tandem::sampling
