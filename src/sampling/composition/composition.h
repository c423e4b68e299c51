// Says how the queries of an epoch become batches, whatever order they come in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"

namespace tandem::sampling {

// A key that no other query shares.
inline constexpr uint32_t kNoKey = UINT32_MAX;

// Keys of what a query must not share with another one of its batch: equal `text` keys are the same
// query text, equal `document` keys the same paired document. Keys are small numbers: arrays are
// indexed by them.
struct BatchKeys {
  uint32_t text = kNoKey;
  uint32_t document = kNoKey;
};

// Says where a query goes whose own batch cannot take it, while there is a choice: to any other
// batch, or to one that is near, where its neighbours are (batches of similar lengths).
enum class Refuge { kAnywhere, kNear };

// Says whether queries with one key may ever meet in a batch.
enum class Copies {
  kNever,
  // Applies where one key is so frequent that HaveToMeet says so: it is spread over all batches
  // then.
  kWhereTheyMust,
  // Applies where any key has more queries than there are full batches: it is spread over these.
  kRatherThanSmallBatches,
};

// Returns true where the `most` queries that share one key have to meet, in an epoch of `queries`
// that would be `full` batches. A few more batches keep them apart at little cost: up to a quarter
// more, and one more in any case, but none of a single query, which could learn from nothing. One
// frequent answer (two of five queries, say) would cut all batches of 64 down to two or three
// queries.
bool HaveToMeet(size_t most, size_t queries, size_t full);

// Returns true where the rule lets the `most` queries that share one key meet.
bool MayMeet(Copies copies, size_t most, size_t queries, size_t full);

// Returns the epoch with each key that more queries share than there are `batches` split into
// several keys, ceil(count / batches) of them: its queries get them by turns, so that each is in a
// batch once and all batches have about as many of the old key.
std::vector<BatchKeys> SplitFrequentKeys(std::span<const BatchKeys> epoch, size_t batches);

// Says how many batches of at most `batch` queries the epoch needs: ceil(n / batch), or, where that
// is more and queries with one key need not meet, as many as there are queries with one text or one
// document, since each of those needs a batch of its own.
size_t CountBatches(std::span<const BatchKeys> epoch, size_t batch, Copies copies = Copies::kNever);

struct EvenOptions {
  size_t batch = 64;  // queries, at most
  Refuge refuge = Refuge::kAnywhere;
  Copies copies = Copies::kNever;
};

// The number of the batch of each query of an epoch: CountBatches batches, whose sizes differ by at
// most one, and no key twice in a batch, or, where its queries have to meet, at most
// ceil(count / batches) times. A query goes to the batch of its place in the epoch (`pass[0]` is
// the first) unless the rules forbid it; where they do, `random` chooses. `batch` must be positive.
//
// Such batches always exist. Take texts and documents as nodes of a bipartite graph and queries as
// edges: batches are the colours of an edge colouring, which needs no more colours than the largest
// degree (Koenig 1916), and classes can be made equal by exchanges along paths of two colours (de
// Werra 1971, McDiarmid 1972).
//
// Time is about linear in the epoch, with O(batch) for each query that is moved by an exchange.
std::vector<uint32_t> ComposeEvenly(std::span<const BatchKeys> epoch, const EvenOptions& options,
                                    RandomStream random);

}  // namespace tandem::sampling
