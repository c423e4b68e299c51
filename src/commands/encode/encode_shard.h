// Lets `tandem encode` be one of several processes that fill one folder with parts
// (embeddings/layouts/part_record.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/log.h"
#include "embeddings/layouts/part_record.h"

namespace tandem::app {

// Parses "3/16": shard 3, counted from 0, of 16. Throws UsageError.
embeddings::Shard ParseShard(std::string_view text);

// Returns the shard that this process encodes: the one that the flag names, else that of its rank
// under a launcher (base/process/launch.h); nothing if the process is alone. Sets `restarted` to
// whether the launcher has restarted the job.
std::optional<embeddings::Shard> ShardOfProcess(std::string_view flag, bool* restarted);

// The texts that a shard encodes: whole blocks, divided as evenly as blocks allow, so that all
// shards together encode the same blocks as one process would.
struct ShardRange {
  uint64_t first = 0;
  uint64_t count = 0;
  uint64_t total = 0;  // texts of all shards
};
ShardRange RangeOfShard(const embeddings::Shard& shard, uint64_t total, uint64_t block_texts);

// The messages of a process that a launcher has started beside others: notes and warnings begin
// with the shard, and only rank 0 shows its progress.
class ShardMessages final : public MessageSink {
 public:
  explicit ShardMessages(const embeddings::Shard& shard);
  ShardMessages(const ShardMessages&) = delete;
  ShardMessages& operator=(const ShardMessages&) = delete;
  ~ShardMessages() override;

  void Note(std::string_view message) override;
  void Warn(std::string_view message) override;
  ProgressView progress_view() const override;
  int columns() const override;
  void WriteProgress(std::string_view bytes) override;

 private:
  embeddings::Shard shard_;
  MessageSink* sink_;
};

}  // namespace tandem::app
