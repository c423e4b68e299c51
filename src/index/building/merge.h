// Making one segment of several: compacting, and joining small segments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "index/building/new_segment.h"
#include "index/folder/manifest.h"

namespace tandem::index {

struct MergeReport {
  uint64_t segments = 0;   // that became one; 0: there was nothing to do
  uint64_t documents = 0;  // of the new segment
  uint64_t dropped = 0;    // removed ones that the files no longer have
};

// Makes one segment of all, of the index's kind, without what has been removed. Where there is one
// segment of the index's kind and nothing is removed, only removes what killed changes have left.
// Nothing is encoded. Throws UsageError where another process changes the index, DataError for
// damaged files and where no document would be left, OutputError, Interrupted; the index then stays
// as it was.
MergeReport CompactIndex(const std::filesystem::path& folder, const ChangeOptions& options);

// More than so many small segments become one when documents are added.
inline constexpr size_t kMostSmallSegments = 8;

// Joins the small segments (kSmallSegmentRows) where there are more than `most` of them. Throws as
// CompactIndex.
MergeReport JoinSmallSegments(const std::filesystem::path& folder, size_t most,
                              const ChangeOptions& options);

}  // namespace tandem::index
