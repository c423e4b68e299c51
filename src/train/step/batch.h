// Turns a sampler's plan into what a step computes on: token ids and labels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dist/process_group.h"
#include "objective/catalogue.h"
#include "objective/objective.h"
#include "sampling/examples.h"
#include "sampling/masks.h"
#include "tensor/packed_tokens.h"
#include "train/inputs/token_store.h"

namespace tandem::train {

// Texts and labels of one batch: queries first, then documents in the order of its columns.
class TrainingBatch {
 public:
  int64_t queries = 0;    // Q
  int64_t documents = 0;  // D
  // Masks are those of queries `masked` alone; all else is the whole batch's.
  objective::Labels labels;
  dist::Share masked;

  int64_t texts() const { return queries + documents; }
  int64_t tokens() const { return static_cast<int64_t>(ids_.size()); }
  int64_t length(int64_t text) const { return starts_[text + 1] - starts_[text]; }
  // Texts [begin, end) as one pack. A text's key for dropout is its index in the batch, whichever
  // pack it is in.
  tensor::PackedTokens Pack(int64_t begin, int64_t end) const;
  // Some queries and some documents as a batch of their own, to be encoded: it has no labels, and
  // dropout keys stay those of the whole.
  TrainingBatch Part(dist::Share of_queries, dist::Share of_documents) const;

 private:
  friend class BatchMaker;
  std::vector<int32_t> ids_;           // [T]
  std::vector<int64_t> starts_ = {0};  // [texts + 1]
  std::vector<int32_t> prompts_;       // [texts]: tokens of prompts; empty: nobody asks
  std::vector<int64_t> keys_;          // [texts]: for dropout; empty: the texts' indices
};

// Everything that batches are made of. The examples' queries are query_texts[q] of `queries`.
struct ExampleTexts {
  sampling::Examples examples{1, {}};
  std::vector<uint32_t> query_texts;  // [examples.size()]
  TokenStore queries;
  TokenStore documents;
};

class BatchMaker {
 public:
  // `texts` must outlive the maker. The labels have labelled cells where `needs` asks for grades or
  // teacher scores.
  BatchMaker(const ExampleTexts& texts, const sampling::MaskRules& rules,
             const objective::Needs& needs = {})
      : texts_(texts), rules_(rules), needs_(needs) {}

  TrainingBatch Make(const sampling::Batch& batch) const;
  // With the masks of queries `masked` alone: of a large batch they take more memory than all else.
  TrainingBatch Make(const sampling::Batch& batch, dist::Share masked) const;
  const sampling::Examples& examples() const { return texts_.examples; }
  const sampling::MaskRules& rules() const { return rules_; }
  const objective::Needs& needs() const { return needs_; }
  // All training queries.
  size_t queries() const { return texts_.examples.size(); }

 private:
  const ExampleTexts& texts_;
  sampling::MaskRules rules_;
  objective::Needs needs_;
};

}  // namespace tandem::train
