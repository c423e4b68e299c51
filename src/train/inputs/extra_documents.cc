#include "train/inputs/extra_documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/log.h"

namespace tandem::train {
namespace {

// More than published recipes draw (MW: 5, FlagEmbedding: 7), so that a query with a hundred judged
// documents does not fill the batch with its documents.
constexpr size_t kMostByDefault = 7;

template <typename Counts>
size_t CountOthers(const data::TrainingQuery& query, const Counts& counts) {
  return static_cast<size_t>(std::count_if(query.others.begin(), query.others.end(), counts));
}

size_t CountLabelled(const data::TrainingQuery& query) {
  return query.positives.size() +
         CountOthers(query, [](const data::Judgement& one) { return one.grade >= 0; });
}

size_t CountExtra(const data::TrainingQuery& query, bool graded_own) {
  if (graded_own) return std::max<size_t>(1, CountLabelled(query)) - 1;
  return CountOthers(query, [](const data::Judgement& one) { return one.grade == 0; });
}

}  // namespace

LabelCount CountLabels(const data::TrainingSet& set, std::span<const uint32_t> training,
                       bool graded_own) {
  LabelCount count{.name = graded_own ? "labelled documents" : "positives"};
  for (const uint32_t e : training) {
    const data::TrainingQuery& query = set.examples[e];
    count.documents += graded_own ? CountLabelled(query) : query.positives.size();
  }
  return count;
}

std::string_view ExtraCounts::name() const {
  return graded ? "extra labelled documents" : "judged negatives";
}

std::string ExtraCounts::Text() const {
  const std::string more =
      mined > 0 ? fmt::format(", and {} are mined for each query", mined) : std::string();
  if (without == queries) return fmt::format("no training query has {}{}", name(), more);
  const std::string range = least == most
                                ? fmt::format("{} each", most)
                                : fmt::format("{} to {}, lower median {}", least, most, median);
  return fmt::format("{} of {} training queries have {} ({}){}", queries - without, queries, name(),
                     range, more);
}

ExtraCounts CountExtra(const data::TrainingSet& set, std::span<const uint32_t> training,
                       bool graded_own, size_t asked) {
  std::vector<size_t> counts;
  for (const uint32_t e : training) {
    counts.push_back(CountExtra(set.examples[e], graded_own));
  }
  if (counts.empty()) return {.graded = graded_own};
  std::sort(counts.begin(), counts.end());
  const auto below = [&counts](size_t bound) {
    return static_cast<size_t>(std::lower_bound(counts.begin(), counts.end(), bound) -
                               counts.begin());
  };
  return {.queries = counts.size(),
          .without = below(1),
          .fewer = below(asked),
          .least = counts.front(),
          .median = counts[(counts.size() - 1) / 2],
          .most = counts.back(),
          .graded = graded_own};
}

ExtraCounts ResolveNegatives(config::LoadedRecipe& loaded, const data::TrainingSet& set,
                             std::span<const uint32_t> training, const objective::Needs& needs) {
  std::optional<int64_t>& negatives = loaded.recipe.data.negatives;
  const auto asked = static_cast<size_t>(negatives.value_or(0));
  const config::MiningRecipe& mining = loaded.recipe.mining;
  const size_t mined = mining.enabled() ? static_cast<size_t>(mining.negatives) : 0;
  ExtraCounts found = CountExtra(set, training, needs.graded_own, asked - std::min(asked, mined));
  found.mined = mined;
  if (negatives) {
    if (mined > 0 && asked > mined + found.most) {
      throw loaded.ErrorAt("data.negatives",
                           fmt::format("asks for {} of each query, but no query gets more than {}: "
                                       "raise mining.negatives ({}), or lower it",
                                       asked, mined + found.most, mined));
    }
    if (mined == 0 && asked > 0 && found.without == found.queries) {
      throw DataError(set.file, 0, "",
                      fmt::format("{}, but data.negatives asks for {}: data.negatives = 0 trains "
                                  "without them; `tandem mine` finds hard negatives, and `tandem "
                                  "import --label COLUMN` makes them of labels",
                                  found.Text(), asked));
    }
    if (found.fewer > 0) {
      Warn(
          fmt::format("data.negatives = {}, but {} of {} training queries have fewer {}{}{}; they "
                      "bring what they have",
                      asked, found.fewer, found.queries, found.name(),
                      found.without > 0 ? fmt::format(" ({} of them none)", found.without) : "",
                      mined > 0 ? fmt::format(", the {} mined ones counted", mined) : ""));
    }
    return found;
  }
  const size_t least = mined > 0 ? 1 : 0;
  negatives = static_cast<int64_t>(std::clamp(found.median, least, kMostByDefault));
  if (needs.teacher && *negatives == 0) {
    throw loaded.ErrorAt(
        "data.negatives",
        fmt::format("would be 0, the lower median over the training queries, but objective {} "
                    "compares labelled documents of one query; give at least 1",
                    loaded.recipe.objective.name));
  }
  return found;
}

}  // namespace tandem::train
