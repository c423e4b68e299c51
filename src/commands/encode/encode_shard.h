// `tandem encode` as one of several processes that fill one folder with parts
// (embeddings/layouts/part_record.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/log.h"
#include "embeddings/layouts/part_record.h"

namespace tandem::app {

// "3/16": shard 3, from 0, of 16. Throws UsageError.
embeddings::Shard ParseShard(std::string_view text);

// Which shard this process encodes: the one that the flag names, else that of its rank under a
// launcher (base/process/launch.h); nothing where it is alone. `restarted` becomes whether the
// launcher has started the job again.
std::optional<embeddings::Shard> ShardOfProcess(std::string_view flag, bool* restarted);

// Which texts a shard encodes: whole blocks, as evenly as blocks allow, so that all shards encode
// the blocks that one process would.
struct ShardRange {
  uint64_t first = 0;
  uint64_t count = 0;
  uint64_t total = 0;  // of all shards
};
ShardRange RangeOfShard(const embeddings::Shard& shard, uint64_t total, uint64_t block_texts);

// Messages of a process that a launcher has started beside others: notes and warnings begin with
// the shard, and rank 0 alone shows its progress.
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
