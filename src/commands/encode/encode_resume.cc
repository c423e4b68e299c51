#include "commands/encode/encode_resume.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <system_error>

#include "base/error.h"
#include "base/files/file_parts.h"
#include "base/files/part_file.h"
#include "base/files/resumable_npy.h"
#include "base/hashes/text_hash.h"
#include "base/log.h"

namespace tandem::app {
namespace {

namespace fs = std::filesystem;

bool Exists(const fs::path& path) {
  std::error_code ignored;  // what cannot be looked at is not there
  return fs::exists(path, ignored);
}

// Looks at parts of a file; one that cannot be opened has none.
class HashedFile {
 public:
  explicit HashedFile(const fs::path& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

  // Whether these bytes are there and have this hash.
  bool Has(uint64_t offset, uint64_t size, uint64_t hash) {
    bytes_.resize(size);
    return file_.number() >= 0 && ReadPart(file_.number(), offset, bytes_.data(), size) &&
           TextHash(bytes_) == hash;
  }

 private:
  FileDescriptor file_;
  std::string bytes_;
};

// How many blocks, from the first, both files hold as the journal says.
size_t WholeBlocks(const fs::path& embeddings, const fs::path& ids, const EncodeJournal& journal,
                   size_t width) {
  HashedFile of_embeddings(embeddings), of_ids(ids);
  uint64_t row = 0, byte = 0;
  for (size_t i = 0; i < journal.blocks.size(); ++i) {
    const EncodedBlock& block = journal.blocks[i];
    const uint64_t start = ResumableNpy::OffsetOf(row, width);
    const uint64_t end = ResumableNpy::OffsetOf(row + block.rows(), width);
    if (!of_embeddings.Has(start, end - start, block.rows_hash)) return i;
    if (!of_ids.Has(byte, block.ids_bytes, block.ids_hash)) return i;
    row += block.rows();
    byte += block.ids_bytes;
  }
  return journal.blocks.size();
}

uint64_t SizeOf(const fs::path& path) {
  std::error_code error;
  const uint64_t size = fs::file_size(path, error);
  return error ? 0 : size;
}

// Whether the finished files are all that the journal says, and nothing more.
bool AreFinished(const EncodePaths& paths, const EncodeJournal& journal, size_t width) {
  return SizeOf(paths.embeddings) == ResumableNpy::OffsetOf(journal.rows(), width) &&
         SizeOf(paths.ids) == journal.ids_bytes() &&
         WholeBlocks(paths.embeddings, paths.ids, journal, width) == journal.blocks.size();
}

// The blocks that the parts hold.
EncodeLeft FindInParts(const EncodePaths& paths, EncodeJournal journal, size_t width) {
  const fs::path ids = PartFile::PartOf(paths.ids);
  const size_t all = journal.blocks.size();
  const size_t whole =
      WholeBlocks(PartFile::PartOf(paths.embeddings),
                  journal.complete && !Exists(ids) ? paths.ids : ids, journal, width);
  journal.blocks.resize(whole);
  journal.complete = journal.complete && whole == all;
  if (whole < all) {
    Warn(
        fmt::format("{}: {} of {} blocks are not as they were written; what follows the first of "
                    "them is encoded again",
                    PartFile::PartOf(paths.embeddings).native(), all - whole, all));
  }
  return {.journal = std::move(journal)};
}

}  // namespace

EncodeLeft FindEncodeLeft(const EncodePaths& paths, const std::string& settings, size_t width,
                          bool has_part) {
  std::optional<EncodeJournal> found = ReadEncodeJournal(paths.journal);
  const std::string& name = paths.embeddings.native();
  if (!found) {
    if (!has_part && Exists(paths.embeddings)) {
      throw UsageError(fmt::format(
          "{}: is there, and no journal says what it was made of; encode without --resume, which "
          "replaces it",
          name));
    }
    Note(fmt::format("{}: nothing was begun that --resume could go on with; all is encoded", name));
    return {};
  }
  CheckSameSettings(*found, settings, name);
  if (found->complete) {
    if (AreFinished(paths, *found, width)) {
      return {.journal = *std::move(found), .finished = true};
    }
    if (!has_part && Exists(paths.embeddings)) {
      throw DataError(name, 0, "",
                      fmt::format("it or {} is not what {} says was written; encode without "
                                  "--resume, which replaces them",
                                  paths.ids.native(), paths.journal.native()));
    }
  }
  return FindInParts(paths, *std::move(found), width);
}

}  // namespace tandem::app
