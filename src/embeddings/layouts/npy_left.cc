#include "embeddings/layouts/npy_left.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <string>
#include <system_error>

#include "base/error.h"
#include "base/files/file_parts.h"
#include "base/log.h"
#include "embeddings/blocks.h"
#include "embeddings/layouts/npy_file.h"
#include "embeddings/layouts/part_file.h"

namespace tandem::embeddings {
namespace {

namespace fs = std::filesystem;

bool Exists(const fs::path& path) {
  std::error_code ignored;  // a file that cannot be queried is not there
  return fs::exists(path, ignored);
}

// Says how many blocks, from the first, both files hold as the journal says.
size_t WholeBlocks(const fs::path& embeddings, const fs::path& ids, const Journal& journal,
                   size_t width) {
  const FileDescriptor embeddings_file(::open(embeddings.c_str(), O_RDONLY | O_CLOEXEC));
  const FileDescriptor ids_file(::open(ids.c_str(), O_RDONLY | O_CLOEXEC));
  std::string bytes;
  const auto has = [&bytes](const FileDescriptor& file, uint64_t offset, uint64_t size,
                            uint64_t hash) {
    uint64_t found = 0;
    return HashOf(file.number(), offset, size, &bytes, &found) && found == hash;
  };
  const RowPlace place = NpyFile::PlaceOf(width);
  uint64_t row = 0, byte = 0;
  for (size_t i = 0; i < journal.blocks.size(); ++i) {
    const JournalBlock& block = journal.blocks[i];
    const uint64_t start = place.OffsetOf(row), end = place.OffsetOf(row + block.rows());
    if (!has(embeddings_file, start, end - start, block.rows_hash)) return i;
    if (!has(ids_file, byte, block.ids_bytes, block.ids_hash)) return i;
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

// Says whether the finished files are all that the journal says, and nothing more.
bool AreFinished(const NpyPaths& paths, const Journal& journal, size_t width) {
  return SizeOf(paths.embeddings) == NpyFile::PlaceOf(width).OffsetOf(journal.rows()) &&
         SizeOf(paths.ids) == journal.ids_bytes() &&
         WholeBlocks(paths.embeddings, paths.ids, journal, width) == journal.blocks.size();
}

// The blocks that the parts hold.
NpyLeft FindInParts(const NpyPaths& paths, Journal journal, size_t width) {
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

NpyLeft FindNpyLeft(const NpyPaths& paths, const Provenance& provenance, size_t width,
                    bool has_part) {
  std::optional<Journal> found = ReadJournal(paths.journal);
  const std::string& name = paths.embeddings.native();
  if (!found) {
    if (!has_part && Exists(paths.embeddings)) {
      throw UsageError(fmt::format(
          "{}: is there, and no journal says what it was made of; encode with --force, which "
          "replaces it",
          name));
    }
    Note(fmt::format("{}: nothing was begun that --resume could go on with; all is encoded", name));
    return {};
  }
  CheckSameProvenance(*found, provenance, name);
  if (found->complete) {
    if (AreFinished(paths, *found, width)) {
      return {.journal = *std::move(found), .finished = true};
    }
    if (!has_part && Exists(paths.embeddings)) {
      throw DataError(name, 0, "",
                      fmt::format("it or {} is not what {} says was written; encode with "
                                  "--force, which replaces them",
                                  paths.ids.native(), paths.journal.native()));
    }
  }
  return FindInParts(paths, *std::move(found), width);
}

}  // namespace tandem::embeddings
