#include "commands/encode/encode_shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/process/launch.h"
#include "search/embeddings/embedding_parts.h"

namespace tandem::app {
namespace {

namespace fs = std::filesystem;

fs::path RecordOf(const fs::path& folder, const search::Shard& shard) {
  return folder / (shard.Name() + ".json");
}

std::optional<uint32_t> AsNumber(std::string_view text) {
  uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

search::PartFileRecord RecordOfFile(const fs::path& path, int threads) {
  search::PartFileRecord file{.name = path.filename().native(), .bytes = fs::file_size(path)};
  file.checksum = ChecksumOfFile(path, file.bytes, threads);
  return file;
}

// Names of the folder's files that belong to parts.
std::vector<std::string> PartFiles(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;  // there may be no such folder yet
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().native();
    if (search::ShardOfFile(name)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

search::Shard ParseShard(std::string_view text) {
  const size_t slash = text.find('/');
  const auto index = AsNumber(text.substr(0, slash));
  const auto count =
      slash == std::string_view::npos ? std::nullopt : AsNumber(text.substr(slash + 1));
  if (!index || !count || *count < 1 || *count > search::kMostShards) {
    throw UsageError(fmt::format(
        "--shard is \"{}\": expected I/N, shard I of N (at most {}), counted from 0: 0/16 to 15/16",
        text, search::kMostShards));
  }
  if (*index >= *count) {
    throw UsageError(
        fmt::format("--shard {}: shards are counted from 0, so that the last of {} is {}/{}", text,
                    *count, *count - 1, *count));
  }
  return {.index = *index, .count = *count};
}

std::optional<search::Shard> ShardOfProcess(std::string_view flag, bool* restarted) {
  *restarted = false;
  if (!flag.empty()) return ParseShard(flag);
  const Launch place = CurrentPlace();
  *restarted = place.restarts > 0;
  if (place.alone()) return std::nullopt;
  return search::Shard{.index = static_cast<uint32_t>(place.rank),
                       .count = static_cast<uint32_t>(place.ranks)};
}

EncodePaths PathsOfShard(const fs::path& folder, const search::Shard& shard) {
  const std::string name = shard.Name();
  return {.embeddings = folder / (name + ".npy"),
          .ids = folder / (name + ".ids.txt"),
          .journal = folder / (name + ".npy.journal"),
          .in_folder = true};
}

ShardRange RangeOfShard(const search::Shard& shard, uint64_t total, uint64_t block_texts) {
  const uint64_t blocks = (total + block_texts - 1) / block_texts;
  const auto start = [&](uint64_t index) {
    return std::min(total, blocks * index / shard.count * block_texts);
  };
  const uint64_t first = start(shard.index);
  return {.first = first, .count = start(shard.index + uint64_t{1}) - first, .total = total};
}

void CheckPartsFolder(const fs::path& folder, const search::Shard& shard,
                      std::string_view settings) {
  std::error_code ignored;
  if (fs::exists(folder / "embeddings.npy", ignored)) {
    throw UsageError(
        fmt::format("{}: holds embeddings.npy, of one process; give parts a folder of their own",
                    folder.native()));
  }
  for (const std::string& name : PartFiles(folder)) {
    const search::Shard other = *search::ShardOfFile(name);
    if (other.count != shard.count) {
      throw UsageError(fmt::format(
          "{}: holds {}, of {} shards, and this is shard {}; give the same number of shards, or "
          "another folder",
          folder.native(), name, other.count, shard.Text()));
    }
    if (other == shard || !name.ends_with(".json")) continue;
    const fs::path path = folder / name;
    search::CheckSameParts(path, search::ParsePartRecord(ReadFile(path), path.native()).settings,
                           settings, "or encode into another folder");
  }
}

void CheckNoParts(const fs::path& folder) {
  const std::vector<std::string> names = PartFiles(folder);
  if (names.empty()) return;
  throw UsageError(fmt::format(
      "{}: holds {}, a part that --shard has made; give another folder, or remove the parts",
      folder.native(), names.front()));
}

void RemovePartRecord(const fs::path& folder, const search::Shard& shard) {
  std::error_code ignored;  // there may be none
  fs::remove(RecordOf(folder, shard), ignored);
}

void WritePartRecord(const fs::path& folder, search::PartRecord record, int threads) {
  const EncodePaths paths = PathsOfShard(folder, record.shard);
  record.embeddings = RecordOfFile(paths.embeddings, threads);
  record.ids = RecordOfFile(paths.ids, threads);
  WriteFileAtomically(RecordOf(folder, record.shard), search::FormatPartRecord(record));
  SyncFolder(folder);
}

ShardMessages::ShardMessages(const search::Shard& shard)
    : shard_(shard), sink_(SetMessageSink(this)) {}

ShardMessages::~ShardMessages() { SetMessageSink(sink_); }

void ShardMessages::Note(std::string_view message) {
  if (sink_ != nullptr) sink_->Note(fmt::format("shard {}: {}", shard_.Text(), message));
}

void ShardMessages::Warn(std::string_view message) {
  if (sink_ != nullptr) sink_->Warn(fmt::format("shard {}: {}", shard_.Text(), message));
}

ProgressView ShardMessages::progress_view() const {
  return sink_ == nullptr || shard_.index > 0 ? ProgressView::kNone : sink_->progress_view();
}

int ShardMessages::columns() const { return sink_->columns(); }

void ShardMessages::WriteProgress(std::string_view bytes) { sink_->WriteProgress(bytes); }

}  // namespace tandem::app
