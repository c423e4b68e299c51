#include "search/mining_by_embeddings/agree_on_mining.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/hashes/running_hash.h"
#include "base/json/json.h"
#include "dist/gather_json.h"

namespace tandem::search {
namespace {

template <typename Numbers>
void Add(const Numbers& numbers, RunningHash& hash) {
  const std::span values(numbers);
  hash.AddBytes(values.data(), values.size_bytes());
}

void Add(const NumberLists& lists, RunningHash& hash) {
  for (size_t list = 0; list < lists.size(); ++list) {
    Add(lists[list], hash);
  }
}

uint64_t HashOf(const data::TrainingSet& set, const MiningTask& task) {
  RunningHash hash;
  Add(set.document_hashes, hash);
  Add(set.query_hashes, hash);
  Add(task.query_of, hash);
  Add(task.document_of, hash);
  for (const NumberLists* lists : {&task.relevant, &task.positives, &task.irrelevant}) {
    Add(*lists, hash);
  }
  return hash.value();
}

std::string TextOf(const std::optional<double>& margin) {
  return margin ? fmt::format("{}", *margin) : "none";
}

// Flags of `tandem mine` and their values.
Json Flags(const MiningRules& rules, std::string_view precision) {
  return {{"--range", fmt::format("{}:{}", rules.ranks.begin, rules.ranks.end)},
          {"--negatives", fmt::format("{}", rules.negatives)},
          {"--absolute-margin", TextOf(rules.absolute_margin)},
          {"--relative-margin", TextOf(rules.relative_margin)},
          {"--random", rules.random ? "on" : "off"},
          {"--seed", fmt::format("{}", rules.random ? rules.seed : 0)},
          {"--search-precision", precision}};
}

void Compare(const Json& other, const Json& first, size_t rank) {
  for (const auto& [flag, value] : first.at("flags").items()) {
    const Json& others = other.at("flags").at(flag);
    if (others == value) continue;
    throw UsageError(
        fmt::format("{} of rank {} is {}, and that of rank 0 {}: give all processes the same flags",
                    flag, rank, others.get<std::string>(), value.get<std::string>()));
  }
  if (other.at("data") == first.at("data")) return;
  throw Error(ExitCode::kData,
              fmt::format("the documents, queries or judgements of rank {} are not those of rank "
                          "0: give all processes the same data, and the same --positive-grade",
                          rank));
}

}  // namespace

void AgreeOnMining(const data::TrainingSet& set, const MiningTask& task, const MiningRules& rules,
                   std::string_view precision, dist::ProcessGroup* group) {
  if (!dist::IsShared(group)) return;
  group->Agree([&] {
    const std::vector<Json> all = dist::AllGatherJson(
        *group, {{"flags", Flags(rules, precision)}, {"data", HashOf(set, task)}});
    for (size_t rank = 1; rank < all.size(); ++rank) Compare(all[rank], all.front(), rank);
  });
}

}  // namespace tandem::search
