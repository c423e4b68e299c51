// A data set that has lost some of its (query, positive) pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.h"

namespace tandem::data {

// A judgement of `positive_grade` or more.
struct DatasetPair {
  uint32_t judged = 0;     // into Dataset::judged
  uint32_t judgement = 0;  // into its judgements
};

// All pairs, query after query, in file order: the order of a training set's pairs
// (BuildTrainingSet with the same grade).
std::vector<DatasetPair> PairsOf(const Dataset& dataset, double positive_grade);

struct PairLoss {
  size_t pairs = 0;
  size_t kept_pairs = 0;
  size_t queries = 0;         // that have pairs
  size_t shrunk_queries = 0;  // that lost some of theirs
  size_t lost_queries = 0;    // that lost all
};

PairLoss CountLoss(const std::vector<DatasetPair>& pairs, const std::vector<bool>& kept);

// Returns the data set without the judgements of pairs that are not kept. A query that loses its
// last pair is not judged any more, and neither is one that had none. Other judgements stay, and so
// do all texts, which are shared. `pairs` is PairsOf the data set, `kept` has an entry for each.
Dataset WithoutPairs(const Dataset& dataset, const std::vector<DatasetPair>& pairs,
                     const std::vector<bool>& kept);

}  // namespace tandem::data
