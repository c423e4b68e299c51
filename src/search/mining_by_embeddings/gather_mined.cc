#include "search/mining_by_embeddings/gather_mined.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tandem::search {
namespace {

dist::Share ShareOfRank(const MiningTask& task, int rank, int ranks) {
  return dist::ShareOf(static_cast<int64_t>(task.query_of.size()), rank, ranks);
}

// Queries whose results are exchanged at a time: many times the results of all would be in memory
// otherwise.
constexpr int64_t kQueriesAtATime = 4096;

// The numbers before the negatives and the scores of the positives of a query.
struct Head {
  uint32_t negatives;
  uint32_t left_out;
  uint32_t positives_in_range;
  uint32_t irrelevant_in_range;
};

class ByteWriter {
 public:
  template <typename T>
  void Write(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

[[noreturn]] void ThrowOtherTask() {
  throw std::logic_error("processes that mine together have different tasks");
}

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  bool Has(size_t values) const {
    return values <= bytes_.size() / sizeof(T);
  }
  template <typename T>
  void Read(std::span<T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (!Has<T>(values.size())) ThrowOtherTask();
    if (!values.empty()) std::memcpy(values.data(), bytes_.data(), values.size_bytes());
    bytes_.remove_prefix(values.size_bytes());
  }
  bool AtEnd() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

template <typename Scores>
auto ScoresOfPositives(const MiningTask& task, Scores& scores, size_t query) {
  return std::span(scores).subspan(task.positives.start(query), task.positives[query].size());
}

std::string BytesOf(const MiningTask& task, const Mined& mined, const dist::Share& queries) {
  ByteWriter writer;
  for (auto q = static_cast<size_t>(queries.begin); q < static_cast<size_t>(queries.end); ++q) {
    const MinedQuery& query = mined.queries[q];
    const Head head{static_cast<uint32_t>(query.negatives.size()), query.left_out,
                    query.positives_in_range, query.irrelevant_in_range};
    writer.Write(std::span(&head, 1));
    writer.Write(std::span(query.negatives));
    writer.Write(ScoresOfPositives(task, mined.positive_scores, q));
  }
  return writer.Take();
}

void ReadQueries(const MiningTask& task, std::string_view bytes, const dist::Share& queries,
                 Mined* mined) {
  ByteReader reader(bytes);
  for (auto q = static_cast<size_t>(queries.begin); q < static_cast<size_t>(queries.end); ++q) {
    Head head{};
    reader.Read(std::span(&head, 1));
    if (!reader.Has<Hit>(head.negatives)) ThrowOtherTask();
    MinedQuery& query = mined->queries[q];
    query = {.negatives = std::vector<Hit>(head.negatives),
             .left_out = head.left_out,
             .positives_in_range = head.positives_in_range,
             .irrelevant_in_range = head.irrelevant_in_range};
    reader.Read(std::span(query.negatives));
    for (const Hit& hit : query.negatives) {
      if (hit.document >= task.document_of.size()) ThrowOtherTask();
    }
    reader.Read(ScoresOfPositives(task, mined->positive_scores, q));
  }
  if (!reader.AtEnd()) ThrowOtherTask();
}

// The part of a share that is exchanged from its query `done` on.
dist::Share PartOf(const dist::Share& share, int64_t done) {
  return {std::min(share.begin + done, share.end),
          std::min(share.begin + done + kQueriesAtATime, share.end)};
}

}  // namespace

dist::Share MiningShareOf(const MiningTask& task, const dist::ProcessGroup* group) {
  return group == nullptr ? ShareOfRank(task, 0, 1)
                          : ShareOfRank(task, group->rank(), group->ranks());
}

Mined GatherMined(const MiningTask& task, Mined own, dist::ProcessGroup* group) {
  if (!dist::IsShared(group)) return own;
  const auto queries = static_cast<int64_t>(task.query_of.size());
  const int64_t most = queries / group->ranks() + 1;  // of a share
  for (int64_t done = 0; done < most; done += kQueriesAtATime) {
    const std::vector<std::string> all =
        group->AllGatherBytes(BytesOf(task, own, PartOf(MiningShareOf(task, group), done)));
    for (int rank = 0; rank < group->ranks(); ++rank) {
      if (rank == group->rank()) continue;
      ReadQueries(task, all[static_cast<size_t>(rank)],
                  PartOf(ShareOfRank(task, rank, group->ranks()), done), &own);
    }
  }
  return own;
}

}  // namespace tandem::search
