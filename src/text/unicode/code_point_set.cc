#include "text/unicode/code_point_set.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "text/unicode/categories.h"
#include "text/unicode/unicode.h"

namespace tandem::text {
namespace {

constexpr char32_t kBeforeSurrogates = 0xD7FF;
constexpr char32_t kAfterSurrogates = 0xE000;

using Range = CodePointSet::Range;

// Appends the code points from `first` to `last` that are no surrogates.
void Append(char32_t first, char32_t last, std::vector<Range>* ranges) {
  if (first <= kBeforeSurrogates) ranges->push_back({first, std::min(last, kBeforeSurrogates)});
  if (last >= kAfterSurrogates) ranges->push_back({std::max(first, kAfterSurrogates), last});
}

// Merges the ranges from `middle` on, both parts ascending, with those before them, and joins those
// that touch.
void Merge(std::vector<Range>* ranges, size_t middle) {
  std::inplace_merge(ranges->begin(), ranges->begin() + static_cast<std::ptrdiff_t>(middle),
                     ranges->end(),
                     [](const Range& a, const Range& b) { return a.first < b.first; });
  size_t kept = 0;
  for (const Range& range : *ranges) {
    if (kept > 0 && range.first <= (*ranges)[kept - 1].last + 1) {
      (*ranges)[kept - 1].last = std::max((*ranges)[kept - 1].last, range.last);
    } else {
      (*ranges)[kept++] = range;
    }
  }
  ranges->resize(kept);
}

// The runs of the category table whose bits `function` takes.
template <typename Function>
CodePointSet OfRuns(const Function& takes) {
  CodePointSet set;
  const std::span<const uint32_t> runs = CategoryRuns();
  for (size_t i = 0; i < runs.size(); ++i) {
    const CategoryEntry entry{static_cast<uint8_t>(runs[i] & 0xFF)};
    const char32_t last = i + 1 < runs.size() ? (runs[i + 1] >> 8) - 1 : kLastCodePoint;
    if (takes(entry)) set.Add({runs[i] >> 8, last});
  }
  return set;
}

}  // namespace

CodePointSet::CodePointSet(char32_t first, char32_t last) { Append(first, last, &ranges_); }

CodePointSet CodePointSet::OfCategories(uint32_t categories) {
  return OfRuns([&](CategoryEntry entry) { return (entry.mask() & categories) != 0; });
}

CodePointSet CodePointSet::OfWordCharacters() {
  return OfRuns([](CategoryEntry entry) { return entry.word(); });
}

void CodePointSet::Add(const CodePointSet& other) {
  const bool one = !ranges_.empty() && other.ranges_.size() == 1;
  if (one && ranges_.back().last + 1 == other.ranges_.front().first) {
    ranges_.back().last = other.ranges_.front().last;
    return;
  }
  const bool behind = ranges_.empty() || other.ranges_.empty() ||
                      ranges_.back().last + 1 < other.ranges_.front().first;
  const size_t middle = ranges_.size();
  ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end());
  if (!behind) Merge(&ranges_, middle);
}

CodePointSet CodePointSet::Complement() const {
  CodePointSet result;
  char32_t next = 0;
  for (const Range& range : ranges_) {
    if (range.first > next) Append(next, range.first - 1, &result.ranges_);
    next = range.last + 1;
  }
  if (next <= kLastCodePoint) Append(next, kLastCodePoint, &result.ranges_);
  return result;
}

CodePointSet CodePointSet::Without(const CodePointSet& other) const {
  CodePointSet all = Complement();
  all.Add(other);
  return all.Complement();
}

bool CodePointSet::Contains(char32_t code_point) const {
  const auto behind = std::upper_bound(ranges_.begin(), ranges_.end(), code_point,
                                       [](char32_t c, const Range& r) { return c < r.first; });
  return behind != ranges_.begin() && code_point <= std::prev(behind)->last;
}

bool CodePointSet::Contains(const CodePointSet& other) const {
  auto own = ranges_.begin();
  for (const Range& range : other.ranges_) {
    own = std::find_if(own, ranges_.end(), [&](const Range& r) { return r.last >= range.first; });
    if (own == ranges_.end() || own->first > range.first || own->last < range.last) return false;
  }
  return true;
}

}  // namespace tandem::text
