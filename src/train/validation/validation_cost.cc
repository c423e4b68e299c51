#include "train/validation/validation_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tandem::train {
namespace {

// A larger interval as --set takes it; "" where there is none.
std::string LargerInterval(const config::Quantity& every, int64_t count) {
  constexpr int64_t kFirstAndLast = 2;
  if (count <= kFirstAndLast) return "";
  if (!every.share) {
    return fmt::format("\"validation.every={} steps\"", 2 * static_cast<int64_t>(every.amount));
  }
  return fmt::format("validation.every={}%", std::min(100.0, 2 * every.amount));
}

// Fewer texts to encode as --set takes it; "" where there are few.
std::string FewerTexts(const config::ValidationRecipe& recipe, const RankedCorpus& ranked) {
  if (!recipe.sources.empty()) return "";  // each has limits of its own, which --set cannot reach
  const size_t half = ranked.documents / 2;
  if (half > 0 && half >= ranked.judged) return fmt::format("validation.pool={}", half);
  if (!recipe.holdout) return "";
  config::Quantity fewer = *recipe.holdout;
  fewer.amount = fewer.share ? fewer.amount / 2 : static_cast<int64_t>(fewer.amount) / 2;
  if (fewer.amount <= 0) return "";
  return fewer.share ? fmt::format("validation.holdout={}%", fewer.amount)
                     : fmt::format("validation.holdout={}", static_cast<int64_t>(fewer.amount));
}

}  // namespace

std::string ValidationCostText(const ValidationCost& cost, const config::ValidationRecipe& recipe,
                               const RankedCorpus& ranked) {
  std::string text = fmt::format("validation takes about {:.0f} % of the time", 100 * cost.share());
  const char* joined = "; less with";
  for (const std::string& less :
       {LargerInterval(recipe.every, cost.count), FewerTexts(recipe, ranked)}) {
    if (less.empty()) continue;
    text += fmt::format("{} --set {}", joined, less);
    joined = " or";
  }
  return text;
}

}  // namespace tandem::train
