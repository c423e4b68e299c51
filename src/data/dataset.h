// Documents, queries and judgements in memory, whatever file format they came from.
//
// Made by data/beir.h and data/sentence_transformers.h; data/training_set.h makes of it what
// training needs.
#pragma once

#include <cstdint>
#include <vector>

#include "data/qrels.h"
#include "data/texts.h"

namespace tandem::data {

struct Judgement {
  uint32_t document = 0;
  double grade = 0;
};

// What is judged for each query of a split; queries without judgement are absent.
struct JudgedQuery {
  uint32_t query = 0;
  std::vector<Judgement> judgements;  // in file order, each document once
};

// Can be moved, not copied (Texts).
struct Dataset {
  Texts documents;
  Texts queries;
  std::vector<JudgedQuery> judged;  // of the split that was read, in file order of first mention
};

// The judgements of `dataset` by id, as eval/evaluate.h takes them.
Qrels QrelsOf(const Dataset& dataset);

}  // namespace tandem::data
