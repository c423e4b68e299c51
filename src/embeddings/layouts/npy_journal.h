// The journal of a .npy file and its ids: what `tandem encode` has written so far, as lines of
// text.
//
//   tandem encode 2
//   NAME VALUE               the provenance (embeddings/provenance.h)
//   blocks
//   block ...                for each block that has reached the disk: the numbers of JournalBlock
//   end ROWS                 once all of them have
//
// A last line that is cut short does not count. Version 1 had other hashes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "base/files/file_parts.h"
#include "embeddings/encode_counts.h"
#include "embeddings/provenance.h"

namespace tandem::embeddings {

// Texts that were encoded and written together.
struct JournalBlock {
  uint64_t texts_hash = 0;  // of ids and texts
  uint64_t rows_hash = 0;   // of the embeddings' bytes (BlockFile::Write)
  uint64_t ids_hash = 0;    // of the lines with the ids
  uint64_t ids_bytes = 0;
  EncodeCounts counts;

  uint64_t rows() const { return counts.texts; }
  bool operator==(const JournalBlock&) const = default;
};

struct Journal {
  Provenance provenance;
  std::vector<JournalBlock> blocks;
  bool complete = false;  // no further block comes

  uint64_t rows() const;
  uint64_t ids_bytes() const;
};

// Nothing where there is no such file. Throws DataError where it is no journal of this version.
std::optional<Journal> ReadJournal(const std::filesystem::path& path);

// Throws what CheckSame throws where the rows were made with anything else than `wanted`; `output`
// is what the journal is of.
void CheckSameProvenance(const Journal& journal, const Provenance& wanted, std::string_view output);

// Writes a journal. Throws OutputError.
class JournalWriter {
 public:
  // Writes the file anew, as `journal` is.
  JournalWriter(std::filesystem::path path, const Journal& journal);

  void Append(const JournalBlock& block);
  // Adds the last line; returns when it has reached the disk.
  void End(uint64_t rows);

 private:
  void Write(std::string_view line);

  std::filesystem::path path_;
  FileDescriptor file_;
};

}  // namespace tandem::embeddings
