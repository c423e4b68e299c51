#include "sampling/examples.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace tandem::sampling {

Examples::Examples(double positive_grade, std::vector<uint64_t> document_hashes)
    : positive_grade_(positive_grade), document_hashes_(std::move(document_hashes)) {}

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
  const auto add = [&](const auto& belongs) {
    std::copy_if(judged.begin(), judged.end(), std::back_inserter(judged_), belongs);
    return judged_.size();
  };
  const auto is_positive = [this](const Judged& one) { return one.grade >= positive_grade_; };
  positive_ends_.push_back(add(is_positive));
  negative_ends_.push_back(
      add([&](const Judged& one) { return !is_positive(one) && one.grade == 0; }));
  add([&](const Judged& one) { return !is_positive(one) && one.grade != 0; });
  ends_.push_back(judged_.size());
  judged_.insert(judged_.end(), unused.begin(), unused.end());
  starts_.push_back(judged_.size());
  query_hashes_.push_back(query_hash);
}

}  // namespace tandem::sampling
