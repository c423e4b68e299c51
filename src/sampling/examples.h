// The training queries as samplers and masks see them: numbers, never texts or tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tandem::sampling {

// A document that somebody judged for a query.
struct Judged {
  uint32_t document = 0;
  double grade = 0;
  double teacher = std::numeric_limits<double>::quiet_NaN();  // NaN: none
};

// Queries 0, 1, ... with their judgements. A judged document is a positive of its query when its
// grade is at least `positive_grade` (docs/training.md).
class Examples {
 public:
  // `document_hashes[d]` is the hash of document d's text: equal hashes are copies.
  Examples(double positive_grade, std::vector<uint64_t> document_hashes);

  // Adds the next query. `judged` and `unused` hold each document once, all below documents(), with
  // grades of 0 or more; throws std::invalid_argument where they do not. Samplers never draw the
  // documents of `unused`, but masks know them.
  void Add(uint64_t query_hash, std::span<const Judged> judged,
           std::span<const Judged> unused = {});

  size_t size() const { return query_hashes_.size(); }
  size_t documents() const { return document_hashes_.size(); }
  double positive_grade() const { return positive_grade_; }

  // Hash of the query's text: equal hashes are the same query asked twice.
  uint64_t query_hash(size_t query) const { return query_hashes_[query]; }
  uint64_t document_hash(size_t document) const { return document_hashes_[document]; }
  // Each list has its documents in the order in which they were added.
  std::span<const Judged> positives(size_t query) const {
    return Slice(starts_[query], positive_ends_[query]);
  }
  // Judged irrelevant (grade 0): the hard negatives.
  std::span<const Judged> negatives(size_t query) const {
    return Slice(positive_ends_[query], negative_ends_[query]);
  }
  // Judged below the positive grade, but above 0: neither positives nor negatives.
  std::span<const Judged> related(size_t query) const {
    return Slice(negative_ends_[query], ends_[query]);
  }
  // Positives, negatives, related documents: all that may be sampled.
  std::span<const Judged> judged(size_t query) const { return Slice(starts_[query], ends_[query]); }
  // The same, then the documents that are left out of training.
  std::span<const Judged> known(size_t query) const {
    return Slice(starts_[query], starts_[query + 1]);
  }

 private:
  std::span<const Judged> Slice(size_t begin, size_t end) const {
    return {judged_.data() + begin, end - begin};
  }

  double positive_grade_;
  std::vector<uint64_t> document_hashes_;  // [N]
  std::vector<uint64_t> query_hashes_;     // [n]
  std::vector<size_t> starts_ = {0};       // [n + 1] into judged_
  std::vector<size_t> positive_ends_;      // [n]: where a query's positives end
  std::vector<size_t> negative_ends_;      // [n]: where its judged negatives end
  std::vector<size_t> ends_;               // [n]: where its judged documents end
  std::vector<Judged> judged_;
};

}  // namespace tandem::sampling
