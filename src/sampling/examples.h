// The training queries as samplers and masks see them: numbers, never texts or tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "sampling/pruning/value_column.h"

namespace tandem::sampling {

// A document that somebody judged for a query.
struct Judged {
  uint32_t document = 0;
  double grade = 0;
  double teacher = std::numeric_limits<double>::quiet_NaN();  // NaN: none
};

class Examples;

// Judged documents of one query, a view into the Examples that gave it. Elements are values: the
// Examples keep documents, grades and teacher scores apart from each other.
class JudgedList {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Judged;
    using difference_type = ptrdiff_t;
    using pointer = const Judged*;
    using reference = Judged;

    Iterator(const JudgedList* list, size_t index) : list_(list), index_(index) {}
    Judged operator*() const { return (*list_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    Iterator operator++(int) { return {list_, index_++}; }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    const JudgedList* list_;
    size_t index_;
  };

  JudgedList(const Examples& examples, size_t begin, size_t end)
      : examples_(&examples), begin_(begin), end_(end) {}

  size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }
  Judged operator[](size_t index) const;
  uint32_t document(size_t index) const;
  // All but the first `count`.
  JudgedList Behind(size_t count) const { return {*examples_, begin_ + count, end_}; }
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }

 private:
  const Examples* examples_;
  size_t begin_, end_;
};

// Queries 0, 1, ... with their judgements. A judged document is a positive of its query when its
// grade is at least `positive_grade` (docs/training.md).
//
// Memory: 28 bytes a query, 8 a document where its hashes are not shared, and of each judged
// document 4 besides what its grade and its teacher score take (sampling/pruning/value_column.h).
class Examples {
 public:
  // `document_hashes[d]` is the hash of document d's text: equal hashes are copies.
  Examples(double positive_grade, std::vector<uint64_t> document_hashes);
  // Shares the hashes, of which a corpus has many, without a copy.
  static Examples Sharing(double positive_grade,
                          std::shared_ptr<const std::vector<uint64_t>> document_hashes);

  // Makes room for so many queries and judged documents in all, so that growing takes no more
  // memory than they need.
  void Reserve(size_t queries, size_t judged);
  // Adds the next query. `judged` and `unused` hold each document once, all below documents(), with
  // grades of 0 or more; throws std::invalid_argument where they do not. Samplers never draw the
  // documents of `unused`, but masks know them.
  void Add(uint64_t query_hash, std::span<const Judged> judged,
           std::span<const Judged> unused = {});

  size_t size() const { return query_hashes_.size(); }
  size_t documents() const { return document_hashes_->size(); }
  double positive_grade() const { return positive_grade_; }

  // Hash of the query's text: equal hashes are the same query asked twice.
  uint64_t query_hash(size_t query) const { return query_hashes_[query]; }
  uint64_t document_hash(size_t document) const { return (*document_hashes_)[document]; }
  // Each list has its documents in the order in which they were added.
  JudgedList positives(size_t query) const {
    return Slice(starts_[query], starts_[query] + ends_[query].positives);
  }
  // Judged irrelevant (grade 0): the hard negatives.
  JudgedList negatives(size_t query) const {
    return Slice(starts_[query] + ends_[query].positives, starts_[query] + ends_[query].negatives);
  }
  // Judged below the positive grade, but above 0: neither positives nor negatives.
  JudgedList related(size_t query) const {
    return Slice(starts_[query] + ends_[query].negatives, starts_[query] + ends_[query].judged);
  }
  // Positives, negatives, related documents: all that may be sampled.
  JudgedList judged(size_t query) const {
    return Slice(starts_[query], starts_[query] + ends_[query].judged);
  }
  // The relevant documents, then the documents that are left out of training.
  JudgedList known(size_t query) const { return Slice(starts_[query], starts_[query + 1]); }

 private:
  friend class JudgedList;
  // The ends of the parts of a query's list, counted from its start.
  struct Ends {
    uint32_t positives = 0;
    uint32_t negatives = 0;
    uint32_t judged = 0;
  };

  JudgedList Slice(size_t begin, size_t end) const { return {*this, begin, end}; }
  void Append(const Judged& one);

  double positive_grade_;
  std::shared_ptr<const std::vector<uint64_t>> document_hashes_;  // [N]
  std::vector<uint64_t> query_hashes_;                            // [n]
  std::vector<uint64_t> starts_ = {0};                            // [n + 1] into the three below
  std::vector<Ends> ends_;                                        // [n]
  std::vector<uint32_t> judged_documents_;
  ValueColumn grades_;
  ValueColumn teachers_;
};

inline Judged JudgedList::operator[](size_t index) const {
  const size_t at = begin_ + index;
  return {examples_->judged_documents_[at], examples_->grades_[at], examples_->teachers_[at]};
}
inline uint32_t JudgedList::document(size_t index) const {
  return examples_->judged_documents_[begin_ + index];
}

}  // namespace tandem::sampling
