// `tandem encode` as one of several processes that fill one folder with parts
// (search/embeddings/part_record.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "commands/encode/encode_paths.h"
#include "search/embeddings/part_record.h"

namespace tandem::app {

// "3/16": shard 3, from 0, of 16. Throws UsageError.
search::Shard ParseShard(std::string_view text);

// Which shard this process encodes: the one that the flag names, else that of its rank under a
// launcher (base/process/launch.h); nothing where it is alone. `restarted` becomes whether the
// launcher has started the job again.
std::optional<search::Shard> ShardOfProcess(std::string_view flag, bool* restarted);

// The files of a shard in `folder`.
EncodePaths PathsOfShard(const std::filesystem::path& folder, const search::Shard& shard);

// Which texts a shard encodes: whole blocks, as evenly as blocks allow, so that all shards encode
// the blocks that one process would.
struct ShardRange {
  uint64_t first = 0;
  uint64_t count = 0;
  uint64_t total = 0;  // of all shards
};
ShardRange RangeOfShard(const search::Shard& shard, uint64_t total, uint64_t block_texts);

// Throws UsageError where the folder holds embeddings of one process, or parts of another number of
// shards; and what search::CheckSameParts throws where it has a part that was made with other
// `settings`.
void CheckPartsFolder(const std::filesystem::path& folder, const search::Shard& shard,
                      std::string_view settings);
// Throws UsageError where the folder holds parts, for embeddings of one process.
void CheckNoParts(const std::filesystem::path& folder);

// Takes the record away, before the files that it describes are replaced.
void RemovePartRecord(const std::filesystem::path& folder, const search::Shard& shard);
// Writes the record of files that are complete, and reads them for their checksums. The names,
// sizes and checksums of `record` are filled in.
void WritePartRecord(const std::filesystem::path& folder, search::PartRecord record, int threads);

// Messages of a process that a launcher has started beside others: notes and warnings begin with
// the shard, and rank 0 alone shows its progress.
class ShardMessages final : public MessageSink {
 public:
  explicit ShardMessages(const search::Shard& shard);
  ShardMessages(const ShardMessages&) = delete;
  ShardMessages& operator=(const ShardMessages&) = delete;
  ~ShardMessages() override;

  void Note(std::string_view message) override;
  void Warn(std::string_view message) override;
  ProgressView progress_view() const override;
  int columns() const override;
  void WriteProgress(std::string_view bytes) override;

 private:
  search::Shard shard_;
  MessageSink* sink_;
};

}  // namespace tandem::app
