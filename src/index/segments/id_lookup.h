// Finds the row of an id in a segment, without ids in memory: the rows in the order of their ids'
// hashes, in mapped files. A look-up touches a few pages.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/segments/column_files.h"

namespace tandem::index {

inline constexpr std::string_view kIdColumn = "ids";
// "ids.hashes": uint64 [N], TextHash of the ids, ascending. "ids.rows": uint32 [N], the row of
// each.
std::vector<std::string> IdLookupFiles();

struct IdLookupOptions {
  // Rows whose hashes are in memory at a time, 16 bytes each. More rows take further passes over
  // the ids: 100 million take six, with 256 MiB.
  size_t rows_at_a_time = size_t{1} << 24;
  // Called for two rows with the same id, the earlier one first. It must throw.
  std::function<void(size_t first, size_t second)> on_copy;
};

// Writes both files into `folder`. Throws OutputError.
void WriteIdLookup(const std::filesystem::path& folder, const TextColumn& ids, size_t rows,
                   const IdLookupOptions& options);

class IdLookup {
 public:
  // `ids` must outlive the look-up. Throws DataError for files of a wrong size.
  IdLookup(const std::filesystem::path& folder, const TextColumn& ids, size_t rows);
  std::optional<uint32_t> Find(std::string_view id) const;

 private:
  // The first place with a hash of at least `hash`.
  size_t FirstOf(uint64_t hash) const;

  const TextColumn& ids_;
  ArrayFile<uint64_t> hashes_;
  ArrayFile<uint32_t> rows_;
};

}  // namespace tandem::index
