// Marking documents of an index as removed. The files of a segment stay as they are: a new file of
// marks replaces the old one, and compacting leaves the rows out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/folder/manifest.h"
#include "index/segments/segment.h"

namespace tandem::index {

// The ids of all segments, and marks on top of those that are there.
class RemovalMarks {
 public:
  // Checks the checksums of the files that it reads. Throws DataError. Both must outlive this.
  RemovalMarks(const std::filesystem::path& folder, const Manifest& manifest);

  struct Row {
    size_t segment = 0;
    uint32_t row = 0;
  };
  // Finds a document that is not removed, here or before.
  std::optional<Row> Find(std::string_view id) const;
  // Says whether there was one of this id, and it has been removed, and is still in the files.
  bool WasRemoved(std::string_view id) const;
  void Mark(const Row& row);
  uint64_t marked() const { return marked_; }

  // Writes the marks of segments that have new ones and puts them into `manifest`, whose generation
  // names the files. Throws OutputError.
  void Write(Manifest* manifest) const;

 private:
  struct Marks {
    std::unique_ptr<SegmentIds> ids;
    std::vector<uint64_t> words;  // empty: none new
    uint64_t added = 0;
  };
  std::filesystem::path folder_;
  std::vector<Marks> segments_;
  uint64_t marked_ = 0;
};

struct RemoveReport {
  uint64_t removed = 0;
  uint64_t missing = 0;  // ids that are no document's
};

// Removes the documents with these ids from the index, all or none. An id that is no document's, or
// that comes twice, is a DataError that names it, unless `ignore_missing`. Throws UsageError where
// another process changes the index, DataError, OutputError.
RemoveReport RemoveDocuments(const std::filesystem::path& folder,
                             const std::vector<std::string>& ids, bool ignore_missing);

}  // namespace tandem::index
