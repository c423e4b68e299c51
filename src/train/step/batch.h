// Makes the batch that a step computes with, token ids and labels, from a sampler's plan.
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

// The texts and labels of one batch: queries first, then documents in the order of its columns.
class TrainingBatch {
 public:
  int64_t queries = 0;    // Q
  int64_t documents = 0;  // D
  // The labels of the whole batch, except that masks are those of the queries `masked` only.
  objective::Labels labels;
  dist::Share masked;

  int64_t texts() const { return queries + documents; }
  int64_t tokens() const { return static_cast<int64_t>(ids_.size()); }
  int64_t length(int64_t text) const { return starts_[text + 1] - starts_[text]; }
  // Returns texts [begin, end) as one pack. A text's key for dropout is its index in the batch,
  // whichever pack it is in.
  tensor::PackedTokens Pack(int64_t begin, int64_t end) const;
  // Returns some queries and some documents as a batch of their own, to be encoded. It has no
  // labels, and the texts keep their dropout keys.
  TrainingBatch Part(dist::Share of_queries, dist::Share of_documents) const;

 private:
  friend class BatchMaker;
  std::vector<int32_t> ids_;           // [T]
  std::vector<int64_t> starts_ = {0};  // [texts + 1]
  std::vector<int32_t> prompts_;       // [texts]: tokens of prompts; empty: not needed
  std::vector<int64_t> keys_;          // [texts]: for dropout; empty: the texts' indices
};

// The data that batches are made of. The query of example q is text query_texts[q] of `queries`.
struct ExampleTexts {
  sampling::Examples examples{1, {}};
  std::vector<uint32_t> query_texts;  // [examples.size()]
  TokenStore queries;
  TokenStore documents;
};

class BatchMaker {
 public:
  // `texts` must outlive the maker. The labels have labelled cells if `needs` asks for grades or
  // teacher scores.
  BatchMaker(const ExampleTexts& texts, const sampling::MaskRules& rules,
             const objective::Needs& needs = {})
      : texts_(texts), rules_(rules), needs_(needs) {}

  TrainingBatch Make(const sampling::Batch& batch) const;
  // Makes the masks of the queries `masked` only, because masks of a large batch take more memory
  // than everything else in it.
  TrainingBatch Make(const sampling::Batch& batch, dist::Share masked) const;
  const sampling::Examples& examples() const { return texts_.examples; }
  const sampling::MaskRules& rules() const { return rules_; }
  const objective::Needs& needs() const { return needs_; }
  // Returns the number of training queries.
  size_t queries() const { return texts_.examples.size(); }

 private:
  const ExampleTexts& texts_;
  sampling::MaskRules rules_;
  objective::Needs needs_;
};

}  // namespace tandem::train
