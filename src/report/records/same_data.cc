#include "report/records/same_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/page/page_parts.h"

namespace tandem::report {
namespace {

std::vector<std::string> Sorted(std::vector<std::string> ids) {
  std::sort(ids.begin(), ids.end());
  return ids;
}

bool SameIds(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  if (a.empty() || b.empty() || a == b) return true;
  return a.size() == b.size() && Sorted(a) == Sorted(b);
}

bool SameFingerprint(const DatasetFacts& a, const DatasetFacts& b) {
  return !a.fingerprint || !b.fingerprint || *a.fingerprint == *b.fingerprint;
}

}  // namespace

bool SameData(const EvaluationRecord& a, const EvaluationRecord& b) {
  return a.dataset.name == b.dataset.name && a.dataset.split == b.dataset.split &&
         a.dataset.documents == b.dataset.documents && a.dataset.queries == b.dataset.queries &&
         a.dataset.relevance_level == b.dataset.relevance_level &&
         SameFingerprint(a.dataset, b.dataset) && SameIds(a.query_ids, b.query_ids);
}

bool IsByDocument(const DatasetFacts& dataset) { return dataset.name.ends_with(kByDocument); }

std::string DataName(const DatasetFacts& dataset) {
  return fmt::format("{}, split {}", dataset.name, dataset.split);
}

std::string DataWords(const DatasetFacts& dataset) {
  return fmt::format("{} ({} {}, {} {}{})", DataName(dataset), GroupedCount(dataset.queries),
                     dataset.queries == 1 ? "query" : "queries", GroupedCount(dataset.documents),
                     dataset.documents == 1 ? "document" : "documents",
                     dataset.relevance_level == 1
                         ? ""
                         : fmt::format(", positives from grade {:g}", dataset.relevance_level));
}

std::string BothDataWords(const EvaluationRecord& a, const EvaluationRecord& b) {
  const std::string first = DataWords(a.dataset);
  const std::string second = DataWords(b.dataset);
  if (first == second && SameIds(a.query_ids, b.query_ids)) {
    return fmt::format("{} and on other data under these names", first);
  }
  if (first == second) return fmt::format("{} and as many other queries", first);
  return fmt::format("{} and {}", first, second);
}

}  // namespace tandem::report
