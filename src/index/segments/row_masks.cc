#include "index/segments/row_masks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "base/process/threads.h"
#include "config/catalogue.h"

namespace tandem::index {
namespace {

size_t FindField(std::string_view name, const std::vector<data::MetadataField>& fields) {
  std::vector<std::string_view> names;
  for (size_t n = 0; n < fields.size(); ++n) {
    if (fields[n].name == name) return n;
    names.push_back(fields[n].name);
  }
  if (names.empty()) {
    throw UsageError(
        fmt::format("field {}: this index has no fields; name them when it is built, as --field {}",
                    name, name));
  }
  throw UsageError("field " + config::UnknownName(name, names));
}

}  // namespace

std::vector<uint64_t> LiveRows(const SegmentIds& ids) {
  const std::span<const uint64_t> removed = ids.removed_words();
  std::vector<uint64_t> live(removed.begin(), removed.end());
  for (uint64_t& word : live) word = ~word;
  if (!live.empty() && ids.rows() % 64 != 0) live.back() &= (uint64_t{1} << (ids.rows() % 64)) - 1;
  return live;
}

ResolvedFilter::ResolvedFilter(const Filter* filter,
                               const std::vector<data::MetadataField>& fields) {
  if (filter == nullptr) return;
  for (const Condition& condition : *filter) {
    conditions_.push_back({FindField(condition.field, fields), &condition});
  }
}

std::vector<uint64_t> ResolvedFilter::Rows(const Segment& segment, std::span<const uint64_t> live,
                                           int threads) const {
  const size_t rows = segment.ids().rows();
  std::vector<uint64_t> words(BitWords(rows));
  constexpr size_t kGrain = 1024;  // words
  ParallelFor(words.size(), kGrain, threads, [&](size_t begin, size_t end) {
    for (size_t row = begin * 64; row < std::min(rows, end * 64); ++row) {
      if (!live.empty() && !BitOf(live, row)) continue;
      const bool holds =
          std::all_of(conditions_.begin(), conditions_.end(), [&](const FieldCondition& one) {
            return Holds(*one.condition, segment.metadata(row, one.field));
          });
      words[row / 64] |= uint64_t{holds} << (row % 64);
    }
  });
  return words;
}

}  // namespace tandem::index
