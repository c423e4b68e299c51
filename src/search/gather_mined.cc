#include "search/gather_mined.h"

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

// A share as bytes: for each of its queries how many negatives it has, its counts, the negatives,
// and the scores of its positives.
class ShareWriter {
 public:
  template <typename T>
  void Add(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class ShareReader {
 public:
  explicit ShareReader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  void Take(std::span<T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (bytes_.size() < values.size_bytes()) {
      throw std::logic_error("processes that mine together have different tasks");
    }
    if (!values.empty()) std::memcpy(values.data(), bytes_.data(), values.size_bytes());
    bytes_.remove_prefix(values.size_bytes());
  }

 private:
  std::string_view bytes_;
};

std::span<float> PositiveScores(const MiningTask& task, Mined& mined, size_t query) {
  return std::span(mined.positive_scores)
      .subspan(task.positives.start(query), task.positives[query].size());
}

std::string BytesOf(const MiningTask& task, Mined& mined, const dist::Share& share) {
  ShareWriter writer;
  for (auto q = static_cast<size_t>(share.begin); q < static_cast<size_t>(share.end); ++q) {
    const MinedQuery& query = mined.queries[q];
    const uint32_t numbers[] = {static_cast<uint32_t>(query.negatives.size()), query.left_out,
                                query.positives_in_range, query.irrelevant_in_range};
    writer.Add(std::span<const uint32_t>(numbers));
    writer.Add(std::span<const Hit>(query.negatives));
    writer.Add(std::span<const float>(PositiveScores(task, mined, q)));
  }
  return writer.Take();
}

void ReadShare(const MiningTask& task, std::string_view bytes, const dist::Share& share,
               Mined* mined) {
  ShareReader reader(bytes);
  for (auto q = static_cast<size_t>(share.begin); q < static_cast<size_t>(share.end); ++q) {
    MinedQuery& query = mined->queries[q];
    uint32_t numbers[4];
    reader.Take(std::span<uint32_t>(numbers));
    query.negatives.resize(numbers[0]);
    query.left_out = numbers[1];
    query.positives_in_range = numbers[2];
    query.irrelevant_in_range = numbers[3];
    reader.Take(std::span<Hit>(query.negatives));
    reader.Take(PositiveScores(task, *mined, q));
  }
}

}  // namespace

dist::Share MiningShareOf(const MiningTask& task, const dist::ProcessGroup* group) {
  return group == nullptr ? ShareOfRank(task, 0, 1)
                          : ShareOfRank(task, group->rank(), group->ranks());
}

Mined GatherMined(const MiningTask& task, Mined own, dist::ProcessGroup* group) {
  if (!dist::IsShared(group)) return own;
  const std::vector<std::string> all =
      group->AllGatherBytes(BytesOf(task, own, MiningShareOf(task, group)));
  for (int rank = 0; rank < group->ranks(); ++rank) {
    if (rank == group->rank()) continue;
    ReadShare(task, all[static_cast<size_t>(rank)], ShareOfRank(task, rank, group->ranks()), &own);
  }
  return own;
}

}  // namespace tandem::search
