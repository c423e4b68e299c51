// Masks say which rows of a segment may be found: those that are not removed and meet a filter.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/texts/metadata.h"
#include "index/query/filter.h"
#include "index/segments/segment.h"

namespace tandem::index {

// A bit a row, set where it is not removed; empty where nothing is removed.
std::vector<uint64_t> LiveRows(const SegmentIds& ids);

// A filter whose fields have been found.
class ResolvedFilter {
 public:
  // `filter` null: no condition; else it must outlive this. Throws UsageError for a condition on a
  // field that is not among `fields`, naming those that are.
  ResolvedFilter(const Filter* filter, const std::vector<data::MetadataField>& fields);

  bool empty() const { return conditions_.empty(); }
  // Bits of the rows that meet all conditions and are in `live` (empty: all are), on so many
  // threads.
  std::vector<uint64_t> Rows(const Segment& segment, std::span<const uint64_t> live,
                             int threads) const;

 private:
  struct FieldCondition {
    size_t field;
    const Condition* condition;
  };
  std::vector<FieldCondition> conditions_;
};

}  // namespace tandem::index
