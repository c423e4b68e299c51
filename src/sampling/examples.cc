#include "sampling/examples.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace tandem::sampling {

Examples::Examples(double positive_grade, std::vector<uint64_t> document_hashes)
    : positive_grade_(positive_grade),
      document_hashes_(std::make_shared<const std::vector<uint64_t>>(std::move(document_hashes))) {}

Examples Examples::Sharing(double positive_grade,
                           std::shared_ptr<const std::vector<uint64_t>> document_hashes) {
  Examples examples(positive_grade, {});
  examples.document_hashes_ = std::move(document_hashes);
  return examples;
}

void Examples::Reserve(size_t queries, size_t judged) {
  query_hashes_.reserve(queries);
  starts_.reserve(queries + 1);
  ends_.reserve(queries);
  judged_documents_.reserve(judged);
  grades_.Reserve(judged);
  teachers_.Reserve(judged);
}

void Examples::Append(const Judged& one) {
  judged_documents_.push_back(one.document);
  grades_.Add(one.grade);
  teachers_.Add(one.teacher);
}

void Examples::Add(uint64_t query_hash, std::span<const Judged> judged,
                   std::span<const Judged> unused) {
  std::vector<uint32_t> seen;
  for (const Judged& one : judged) seen.push_back(one.document);
  for (const Judged& one : unused) seen.push_back(one.document);
  std::sort(seen.begin(), seen.end());
  if (!seen.empty() && seen.back() >= documents()) {
    throw std::invalid_argument("a judged document is not among the documents");
  }
  if (std::adjacent_find(seen.begin(), seen.end()) != seen.end()) {
    throw std::invalid_argument("a document is judged twice for one query");
  }
  const auto is_judged = [](const Judged& one) { return one.grade >= 0; };
  if (!std::all_of(judged.begin(), judged.end(), is_judged)) {
    throw std::invalid_argument("a grade below 0 means that the document is not judged");
  }
  // Returns how many documents the query has after those that belong.
  const auto add = [&](const auto& belongs) {
    for (const Judged& one : judged) {
      if (belongs(one)) Append(one);
    }
    return static_cast<uint32_t>(judged_documents_.size() - starts_.back());
  };
  const auto is_positive = [this](const Judged& one) { return one.grade >= positive_grade_; };
  Ends ends;
  ends.positives = add(is_positive);
  ends.negatives = add([&](const Judged& one) { return !is_positive(one) && one.grade == 0; });
  ends.judged = add([&](const Judged& one) { return !is_positive(one) && one.grade != 0; });
  for (const Judged& one : unused) Append(one);
  ends_.push_back(ends);
  starts_.push_back(judged_documents_.size());
  query_hashes_.push_back(query_hash);
}

}  // namespace tandem::sampling
