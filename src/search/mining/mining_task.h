// The task of mining: the queries of a training set, and for each query the documents that must not
// be mined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/training_set.h"

namespace tandem::search {

// A list of numbers for each of several things, one list after the other.
class NumberLists {
 public:
  size_t size() const { return starts_.size() - 1; }
  std::span<const uint32_t> operator[](size_t list) const {
    return std::span(values_).subspan(starts_[list], starts_[list + 1] - starts_[list]);
  }
  // The place where a list begins in an array of the values of all lists.
  size_t start(size_t list) const { return starts_[list]; }
  size_t values() const { return values_.size(); }

  // Ends the last list and begins the next.
  void Add(std::span<const uint32_t> list) {
    values_.insert(values_.end(), list.begin(), list.end());
    starts_.push_back(values_.size());
  }

 private:
  std::vector<size_t> starts_ = {0};
  std::vector<uint32_t> values_;
};

// Queries with the same text are one, and so are documents with the same text: a copy ranks once,
// and what is known about a text holds for all of its copies. Queries and documents of a task are
// numbered by their texts' first occurrence; the arrays lead back to those of the training set.
struct MiningTask {
  std::vector<uint32_t> query_of;         // [Q]: the training set's query with this text
  std::vector<uint32_t> row_of_example;   // [examples that are mined for]: which of the Q it asks
  std::vector<uint32_t> document_of;      // [D]: the training set's document with this text
  std::vector<uint32_t> row_of_document;  // [documents]: which of the D it is a copy of
  // Lists for each query, ascending, each document once. `relevant`: never mined (data::IsRelevant,
  // copies, and what MiningTaskOptions leaves out); `positives`: those of them with the grade of a
  // positive; `irrelevant`: judged 0, none of them relevant.
  NumberLists relevant;
  NumberLists positives;
  NumberLists irrelevant;
  // Queries with a document of their own text that is not judged relevant, and those with one of
  // their own id that is not left out for its text either; whether they are left out or not.
  size_t own_texts = 0;
  size_t identical_ids = 0;
};

// The documents that are never mined, besides those that are judged relevant.
struct MiningTaskOptions {
  bool own_text = true;        // a document with the query's own text
  bool identical_ids = false;  // a document with the id of a query that has this text
};

// Makes the task for all examples, or for `which` of them; what is known about a query comes from
// all examples in either case. Throws DataError where the corpus holds one text only: there is
// nothing to mine.
MiningTask MakeMiningTask(const data::TrainingSet& set, const MiningTaskOptions& options = {});
MiningTask MakeMiningTask(const data::TrainingSet& set, std::span<const uint32_t> which,
                          const MiningTaskOptions& options = {});

}  // namespace tandem::search
