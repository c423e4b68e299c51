// What `tandem encode` has written so far, beside what it writes: lines of text.
//
//   tandem encode 1
//   NAME VALUE               for each of what decides the bytes, as search::EncodingSource
//   blocks
//   block ...                for each block that has reached the disk: the numbers of EncodedBlock
//   end ROWS                 once all of them have
//
// A last line that is cut short does not count.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file_parts.h"
#include "search/encode_counts.h"

namespace tandem::app {

// Texts that were encoded and written together.
struct EncodedBlock {
  uint64_t texts_hash = 0;  // of ids and texts (TextBlock::hash)
  uint64_t rows_hash = 0;   // of the embeddings' bytes
  uint64_t ids_hash = 0;    // of the lines with the ids
  uint64_t ids_bytes = 0;
  search::EncodeCounts counts;

  uint64_t rows() const { return counts.texts; }
  bool operator==(const EncodedBlock&) const = default;
};

struct EncodeJournal {
  std::string settings;  // lines, each with its end
  std::vector<EncodedBlock> blocks;
  bool complete = false;  // no further block comes

  uint64_t rows() const;
  uint64_t ids_bytes() const;
};

// Nothing where there is no such file. Throws DataError where it is no journal of this version.
std::optional<EncodeJournal> ReadEncodeJournal(const std::filesystem::path& path);

// Throws where the lines are not those of `wanted`, naming the first that differs and what a user
// can do: ModelError for another model, else UsageError. `output` is what the journal is of.
void CheckSameSettings(const EncodeJournal& journal, std::string_view wanted,
                       std::string_view output);

// Writes a journal. Throws OutputError.
class EncodeJournalWriter {
 public:
  // Writes the file anew, as `journal` is.
  EncodeJournalWriter(std::filesystem::path path, const EncodeJournal& journal);

  void Append(const EncodedBlock& block);
  // Adds the last line; returns when it has reached the disk.
  void End(uint64_t rows);

 private:
  void Write(std::string_view line);

  std::filesystem::path path_;
  FileDescriptor file_;
};

}  // namespace tandem::app
