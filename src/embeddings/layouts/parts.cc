#include "embeddings/layouts/parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/hashes/running_hash.h"
#include "embeddings/layouts/npy.h"

namespace tandem::embeddings {
namespace {

namespace fs = std::filesystem;

// Names of files of parts in the folder; none where it cannot be read.
std::vector<std::string> PartFilesIn(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().native();
    if (ShardOfFile(name)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path RecordOf(const fs::path& folder, const Shard& shard) {
  return folder / (shard.Name() + ".json");
}

PartRecord ReadRecord(const fs::path& folder, const Shard& shard) {
  const fs::path path = RecordOf(folder, shard);
  PartRecord record = ParsePartRecord(ReadFile(path), path.native());
  if (record.shard == shard) return record;
  throw DataError(path.native(), 0, "",
                  fmt::format("is the record of shard {}, which another file must be named after",
                              record.shard.Text()));
}

// Throws where files are of different numbers of shards; returns the number.
uint32_t ShardCount(const fs::path& folder, const std::vector<std::string>& names) {
  const uint32_t count = ShardOfFile(names.front())->count;
  for (const std::string& name : names) {
    if (ShardOfFile(name)->count == count) continue;
    throw DataError(folder.native(), 0, "",
                    fmt::format("holds {} and {}: parts of different numbers of shards. Remove "
                                "those that do not belong here",
                                names.front(), name));
  }
  return count;
}

// Throws where a shard has no record, naming all of them.
void CheckAllThere(const fs::path& folder, uint32_t count, const std::vector<std::string>& names) {
  constexpr size_t kNamed = 8;
  std::set<std::string> there(names.begin(), names.end());
  std::vector<std::string> missing;
  size_t begun = 0, all = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const Shard shard{.index = i, .count = count};
    if (there.contains(shard.Name() + ".json")) continue;
    begun += there.contains(shard.Name() + ".npy.part") || there.contains(shard.Name() + ".npy");
    if (++all <= kNamed) missing.push_back(shard.Text());
  }
  if (all == 0) return;
  throw DataError(
      folder.native(), 0, "",
      fmt::format("{} of {} shards {} missing: {}{}{}. Make {} with the command of the others and "
                  "--shard {} --resume",
                  all, count, all == 1 ? "is" : "are", fmt::join(missing, ", "),
                  all > kNamed ? ", ..." : "",
                  begun > 0 ? fmt::format(" ({} begun, not finished)", begun) : "",
                  all == 1 ? "it" : "each", missing.front()));
}

void CheckFileSize(const fs::path& folder, const PartFileRecord& file) {
  const fs::path path = folder / file.name;
  std::error_code error;
  const uintmax_t bytes = fs::file_size(path, error);
  if (error) throw DataError(path.native(), 0, "", "is missing, and its record is there");
  if (bytes == file.bytes) return;
  throw DataError(
      path.native(), 0, "",
      fmt::format(
          "has {} bytes, expected {}, as its record says: it is {}; encode this shard again", bytes,
          file.bytes, bytes < file.bytes ? "cut short" : "another file"));
}

[[noreturn]] void ThrowDamaged(const fs::path& path, const Shard& shard) {
  throw DataError(path.native(), 0, "",
                  fmt::format("is not as it was written (its checksum differs): it is damaged; "
                              "remove {}.json and encode with --shard {} again",
                              shard.Name(), shard.Text()));
}

void CheckBytes(const fs::path& folder, const PartFileRecord& file, const Shard& shard,
                int threads) {
  const fs::path path = folder / file.name;
  const Checksum found = ChecksumOfFile(path, file.bytes, threads, file.checksum.kind);
  if (found != file.checksum) ThrowDamaged(path, shard);
}

// Rows must follow each other, from 0 to the number of all.
void CheckRows(const fs::path& folder, const std::vector<PartRecord>& records) {
  uint64_t next = 0;
  for (const PartRecord& record : records) {
    const fs::path path = RecordOf(folder, record.shard);
    if (record.total_rows != records.front().total_rows || record.width != records.front().width) {
      throw DataError(path.native(), 0, "",
                      fmt::format("is of {} rows of {} numbers in all parts, and {}.json of {} of "
                                  "{}: they do not belong together",
                                  record.total_rows, record.width, records.front().shard.Name(),
                                  records.front().total_rows, records.front().width));
    }
    if (record.first_row != next) {
      throw DataError(path.native(), 0, "",
                      fmt::format("begins with row {}, expected {}, where the part before ends",
                                  record.first_row, next));
    }
    next += record.rows;
  }
  if (next == records.front().total_rows) return;
  throw DataError(folder.native(), 0, "",
                  fmt::format("holds {} rows, expected {}, as the records of its parts say", next,
                              records.front().total_rows));
}

}  // namespace

// --- A part --------------------------------------------------------------------------------------

EmbeddingPart::EmbeddingPart(const fs::path& folder, const PartRecord& record, int threads)
    : record_(record),
      ids_path_(folder / record.ids.name),
      matrix_([&] {
        CheckBytes(folder, record.embeddings, record.shard, threads);
        CheckBytes(folder, record.ids, record.shard, threads);
        return ReadNpy(folder / record.embeddings.name);
      }()),
      ids_(ids_path_) {
  if (matrix_.rows != record.rows || matrix_.columns != record.width) {
    throw DataError((folder / record.embeddings.name).native(), 0, "",
                    fmt::format("has {} rows of {} numbers, expected {} of {}, as its record says",
                                matrix_.rows, matrix_.columns, record.rows, record.width));
  }
}

void EmbeddingPart::ForEachId(
    const std::function<void(uint64_t row, std::string_view id)>& body) const {
  std::string_view rest = ids_.bytes();
  for (uint64_t row = 0; row < record_.rows; ++row) {
    const size_t end = rest.find('\n');
    if (end == std::string_view::npos) {
      throw DataError(ids_path_.native(), 0, "",
                      fmt::format("has {} ids, expected {}, one for each row", row, record_.rows));
    }
    body(record_.first_row + row, rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  if (rest.empty()) return;
  throw DataError(ids_path_.native(), 0, "",
                  fmt::format("has more than {} ids, one for each row", record_.rows));
}

void EmbeddingPart::CheckTexts(const ExpectedTexts& texts) const {
  RunningHash hash;
  ForEachId([&](uint64_t row, std::string_view id) {
    const std::string_view expected = texts.id(row);
    if (id != expected) {
      throw DataError(ids_path_.native(), static_cast<int64_t>(row - record_.first_row + 1), id,
                      fmt::format("expected {}, the id of text {}: embeddings must be of the same "
                                  "texts in the same order",
                                  expected, row + 1));
    }
    hash.Add(id);
    hash.Add(texts.text(row));
  });
  if (hash.value() == record_.texts_hash) return;
  throw DataError(
      ids_path_.native(), 0, "",
      fmt::format("texts {} to {} have the ids that they had, but are not those that "
                  "were encoded: encode with --shard {} again",
                  record_.first_row + 1, record_.first_row + record_.rows, record_.shard.Text()));
}

// --- A folder ------------------------------------------------------------------------------------

bool EmbeddingParts::AreIn(const fs::path& folder) { return !PartFilesIn(folder).empty(); }

EmbeddingParts::EmbeddingParts(fs::path folder) : folder_(std::move(folder)) {
  const std::vector<std::string> names = PartFilesIn(folder_);
  if (names.empty()) {
    throw DataError(folder_.native(), 0, "",
                    "is no folder of embeddings in parts: expected part-00000-of-N.json and "
                    "others, which `tandem encode --shard` writes");
  }
  const uint32_t count = ShardCount(folder_, names);
  CheckAllThere(folder_, count, names);
  for (uint32_t i = 0; i < count; ++i) {
    records_.push_back(ReadRecord(folder_, {.index = i, .count = count}));
    CheckSame(RecordOf(folder_, records_[i].shard).native(), records_[i].provenance,
              records_.front().provenance, Sameness::kMeaning,
              fmt::format("as {}.json says, or remove what does not belong here",
                          records_.front().shard.Name()));
  }
  CheckRows(folder_, records_);
  for (const PartRecord& record : records_) {
    CheckFileSize(folder_, record.embeddings);
    CheckFileSize(folder_, record.ids);
  }
}

uint64_t EmbeddingParts::hash() const {
  RunningHash hash;
  for (const PartRecord& record : records_) hash.Add(FormatPartRecord(record));
  return hash.value();
}

void EmbeddingParts::CheckMadeWith(const Provenance& wanted) const {
  const Provenance& made_with = records_.front().provenance;
  const std::string_view kind = made_with.Of("kind"), wanted_kind = wanted.Of("kind");
  if (kind != wanted_kind) {
    throw UsageError(fmt::format(
        "{}: holds embeddings of --kind {}; expected --kind {}: encode "
        "the {} into a folder of their own",
        folder_.native(), kind, wanted_kind, wanted_kind == "query" ? "queries" : "documents"));
  }
  CheckSame(folder_.native(), made_with, wanted, Sameness::kMeaning, "or encode again");
}

void EmbeddingParts::CheckCount(uint64_t count, std::string_view what) const {
  if (count == rows()) return;
  throw DataError(
      folder_.native(), 0, "",
      fmt::format("holds {} embeddings, expected {}, one for each of the {}", rows(), count, what));
}

EmbeddingPart EmbeddingParts::Open(size_t part, int threads) const {
  return {folder_, records_[part], threads};
}

// --- Writing a part ------------------------------------------------------------------------------

NpyPaths PathsOfPart(const fs::path& folder, const Shard& shard) {
  const std::string rows = shard.Name() + kPartRows;
  return {.embeddings = folder / rows,
          .ids = folder / (shard.Name() + kPartIds),
          .journal = folder / (rows + ".journal"),
          .in_folder = true};
}

void CheckPartsFolder(const fs::path& folder, const Shard& shard, const Provenance& provenance) {
  std::error_code ignored;
  if (fs::exists(folder / "embeddings.npy", ignored)) {
    throw UsageError(
        fmt::format("{}: holds embeddings.npy, of one process; give parts a folder of their own",
                    folder.native()));
  }
  for (const std::string& name : PartFilesIn(folder)) {
    const Shard other = *ShardOfFile(name);
    if (other.count != shard.count) {
      throw UsageError(fmt::format(
          "{}: holds {}, of {} shards, and this is shard {}; give the same number of shards, or "
          "another folder",
          folder.native(), name, other.count, shard.Text()));
    }
    if (other == shard || !name.ends_with(".json")) continue;
    const fs::path path = folder / name;
    CheckSame(path.native(), ParsePartRecord(ReadFile(path), path.native()).provenance, provenance,
              Sameness::kMeaning, "or encode into another folder");
  }
}

void CheckNoParts(const fs::path& folder) {
  const std::vector<std::string> names = PartFilesIn(folder);
  if (names.empty()) return;
  throw UsageError(fmt::format(
      "{}: holds {}, a part that --shard has made; give another folder, or remove the parts",
      folder.native(), names.front()));
}

void RemovePartRecord(const fs::path& folder, const Shard& shard) {
  std::error_code ignored;  // there may be none
  fs::remove(RecordOf(folder, shard), ignored);
}

void WritePartRecord(const fs::path& folder, PartRecord record, int threads) {
  const auto describe = [&](PartFileRecord* file, const char* ending) {
    file->name = record.shard.Name() + ending;
    file->bytes = fs::file_size(folder / file->name);
    file->checksum = ChecksumOfFile(folder / file->name, file->bytes, threads);
  };
  describe(&record.embeddings, kPartRows);
  describe(&record.ids, kPartIds);
  WriteFileAtomically(RecordOf(folder, record.shard), FormatPartRecord(record));
  SyncFolder(folder);
}

}  // namespace tandem::embeddings
