// The negatives that were mined, and what is said about them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/training_set.h"
#include "search/mining/mining_rules.h"
#include "search/mining/mining_task.h"

namespace tandem::search {

// The documents mined for one query.
struct MinedQuery {
  std::vector<Hit> negatives;  // best first; `document` is one of the task's D
  uint32_t left_out = 0;       // candidates that the margins took out
  // Counts of a query with documents judged 0: judged documents that the ranking places in the
  // range, margins aside. They are positives (their rank counts the documents before them that are
  // not relevant), and those judged 0.
  uint32_t positives_in_range = 0;
  uint32_t irrelevant_in_range = 0;
};

struct Mined {
  std::vector<MinedQuery> queries;  // [Q of the task]
  // The scores of task.positives, in their order; -infinity where there is none.
  std::vector<float> positive_scores;
};

// A Mined without negatives, for MineQuery to fill.
Mined NothingMined(const MiningTask& task);

// The hits, relevant ones among them, that MineQuery needs of a query: rules.Depth() of others, or,
// where documents judged 0 tell something about the range, all of it.
size_t HitsNeeded(const MiningTask& task, const MiningRules& rules, size_t query);

// Chooses the negatives of a query from its best hits, best first, relevant ones among them;
// mined.positive_scores of the query must be there. Several threads may call it for different
// queries.
void MineQuery(const MiningTask& task, const MiningRules& rules, size_t query,
               std::span<const Hit> hits, Mined* mined);

// The lowest score of a query's positives; -infinity where one has none.
float LowestPositive(const MiningTask& task, const Mined& mined, size_t query);

// Sums over queries.
struct MiningSummary {
  size_t queries = 0;  // with a text of their own
  size_t full = 0;     // with as many negatives as asked for
  size_t without = 0;  // with none
  size_t negatives = 0;
  double negative_score = 0;  // mean; 0 for none
  size_t positives = 0;       // with a score
  double positive_score = 0;  // mean; 0 for none
  size_t unscored_positives = 0;
  size_t left_out = 0;
  size_t positives_in_range = 0;
  size_t irrelevant_in_range = 0;

  // The share of positives among the judged documents in the range, of queries with documents
  // judged 0; nothing where none there was judged 0. It estimates how many of the mined negatives
  // are false where those who judged looked at documents of all ranks alike.
  std::optional<double> FalseNegativeRate() const;
};
MiningSummary Summarize(const MiningRules& rules, const Mined& mined);

// A data set of the examples with what they learn from: their relevant documents, with their
// grades, and the mined negatives, with grade 0. `query_prompt` and `has_grades` are the source's.
data::Dataset WithMined(const data::TrainingSet& set, const MiningTask& task, const Mined& mined,
                        std::string query_prompt, bool has_grades);

}  // namespace tandem::search
