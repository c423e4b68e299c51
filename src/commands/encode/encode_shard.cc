#include "commands/encode/encode_shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/error.h"
#include "base/process/launch.h"

namespace tandem::app {
namespace {

std::optional<uint32_t> AsNumber(std::string_view text) {
  uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace

embeddings::Shard ParseShard(std::string_view text) {
  const size_t slash = text.find('/');
  const auto index = AsNumber(text.substr(0, slash));
  const auto count =
      slash == std::string_view::npos ? std::nullopt : AsNumber(text.substr(slash + 1));
  if (!index || !count || *count < 1 || *count > embeddings::kMostShards) {
    throw UsageError(fmt::format(
        "--shard is \"{}\": expected I/N, shard I of N (at most {}), counted from 0: 0/16 to 15/16",
        text, embeddings::kMostShards));
  }
  if (*index >= *count) {
    throw UsageError(
        fmt::format("--shard {}: shards are counted from 0, so that the last of {} is {}/{}", text,
                    *count, *count - 1, *count));
  }
  return {.index = *index, .count = *count};
}

std::optional<embeddings::Shard> ShardOfProcess(std::string_view flag, bool* restarted) {
  *restarted = false;
  if (!flag.empty()) return ParseShard(flag);
  const Launch place = CurrentPlace();
  *restarted = place.restarts > 0;
  if (place.alone()) return std::nullopt;
  return embeddings::Shard{.index = static_cast<uint32_t>(place.rank),
                           .count = static_cast<uint32_t>(place.ranks)};
}

ShardRange RangeOfShard(const embeddings::Shard& shard, uint64_t total, uint64_t block_texts) {
  const uint64_t blocks = (total + block_texts - 1) / block_texts;
  const auto start = [&](uint64_t index) {
    return std::min(total, blocks * index / shard.count * block_texts);
  };
  const uint64_t first = start(shard.index);
  return {.first = first, .count = start(shard.index + uint64_t{1}) - first, .total = total};
}

ShardMessages::ShardMessages(const embeddings::Shard& shard)
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
