// The documents of a change, read to their end before any is encoded: then their number and size
// are known, ids that come twice are found while nothing is lost yet, and encoding can go on
// anywhere. The files are those of the segment that they become (index/segments/segment.h), besides
//
//   places.lines   uint64 [N]: the line of each
//   places.files   lines "FIRST_ROW<tab>FILE": the file of all rows from there
//   staged         written last: "rows N"
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/process/interrupt.h"
#include "data/input/text_input.h"
#include "data/texts/metadata.h"
#include "index/segments/column_files.h"

namespace tandem::index {

// Gives the next document as data::TextInput::Next does.
using NextDocument = std::function<bool(data::InputText*)>;

struct StageOptions {
  std::vector<data::MetadataField> fields;
  size_t rows_at_a_time = size_t{1} << 24;  // IdLookupOptions
  std::function<void(uint64_t rows)> progress;
  StopRequest stop;
};

// Reads all documents into `folder`, which must exist and hold none. Memory does not grow with
// their number, but for `rows_at_a_time`. Throws DataError for an id that comes twice, naming both
// places, and where there is no document; Interrupted; OutputError.
void StageDocuments(const std::filesystem::path& folder, const NextDocument& next,
                    const StageOptions& options);

class StagedDocuments {
 public:
  // Says whether StageDocuments has come to its end there.
  static bool AreIn(const std::filesystem::path& folder);
  // Throws DataError where the files contradict each other.
  explicit StagedDocuments(const std::filesystem::path& folder);

  size_t rows() const { return rows_; }
  std::string_view id(size_t row) const { return ids_[row]; }
  std::string_view text(size_t row) const { return texts_[row]; }

  struct Place {
    std::string_view file;
    int64_t line = 0;
  };
  Place place(size_t row) const;

  void ReleasePages() const;

 private:
  size_t rows_;
  TextColumn ids_;
  TextColumn texts_;
  ArrayFile<uint64_t> lines_;
  std::vector<std::pair<size_t, std::string>> files_;  // first row and name, ascending
};

}  // namespace tandem::index
