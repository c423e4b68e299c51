#include "search/mining/mining_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/random.h"

namespace tandem::search {
namespace {

// A number that decides whether this document is drawn: those with the lowest are.
uint64_t DrawKey(const MiningRules& rules, uint32_t query, uint32_t document) {
  const std::array<uint32_t, 4> counter = {document, query, static_cast<uint32_t>(rules.round),
                                           static_cast<uint32_t>(rules.round >> 32)};
  const std::array<uint32_t, 4> drawn = Philox4x32(
      counter, {static_cast<uint32_t>(rules.seed), static_cast<uint32_t>(rules.seed >> 32)});
  return uint64_t{drawn[0]} << 32 | drawn[1];
}

}  // namespace

std::optional<RankRange> ParseRankRange(std::string_view text) {
  RankRange range;
  const char* const end = text.data() + text.size();
  const auto [colon, first_error] = std::from_chars(text.data(), end, range.begin);
  if (first_error != std::errc() || colon == end || *colon != ':') return std::nullopt;
  const auto [stop, error] = std::from_chars(colon + 1, end, range.end);
  if (error != std::errc() || stop != end) return std::nullopt;
  return range;
}

void CheckRules(const MiningRules& rules) {
  const RankRange& ranks = rules.ranks;
  if (ranks.begin >= ranks.end) {
    throw UsageError(fmt::format("--range {}:{} is empty; expected FIRST:END with FIRST below END",
                                 ranks.begin, ranks.end));
  }
  if (rules.negatives == 0) throw UsageError("--negatives is 0; expected at least 1");
  if (rules.negatives > ranks.end - ranks.begin) {
    throw UsageError(fmt::format("--negatives {} are more than the {} ranks of --range {}:{}",
                                 rules.negatives, ranks.end - ranks.begin, ranks.begin, ranks.end));
  }
  const auto& absolute = rules.absolute_margin;
  if (absolute && !(*absolute >= 0 && std::isfinite(*absolute))) {
    throw UsageError(
        fmt::format("--absolute-margin is {}; expected a number of at least 0: how far below the "
                    "query's lowest "
                    "positive a negative must score",
                    *absolute));
  }
  const auto& relative = rules.relative_margin;
  if (relative && !(*relative >= 0 && *relative <= 1)) {
    throw UsageError(fmt::format(
        "--relative-margin is {}; expected 0 to 1: how far below the query's lowest positive a "
        "negative must score, as a share of that score",
        *relative));
  }
}

bool KeepsMargins(const MiningRules& rules, float score, float lowest_positive) {
  if (!rules.HasMargin()) return true;
  if (lowest_positive == -std::numeric_limits<float>::infinity()) return false;
  if (rules.absolute_margin &&
      score + static_cast<float>(*rules.absolute_margin) > lowest_positive) {
    return false;
  }
  return !rules.relative_margin ||
         score <= lowest_positive -
                      std::fabs(lowest_positive) * static_cast<float>(*rules.relative_margin);
}

float MarginCeiling(const MiningRules& rules, float lowest_positive) {
  float ceiling = std::numeric_limits<float>::infinity();
  if (!rules.HasMargin()) return ceiling;
  if (!std::isfinite(lowest_positive)) return -ceiling;
  if (rules.absolute_margin) ceiling = lowest_positive - static_cast<float>(*rules.absolute_margin);
  if (rules.relative_margin) {
    const float share = std::fabs(lowest_positive) * static_cast<float>(*rules.relative_margin);
    ceiling = std::min(ceiling, lowest_positive - share);
  }
  return ceiling;
}

std::vector<Hit> Choose(const MiningRules& rules, uint32_t query, std::span<const Hit> candidates) {
  if (candidates.size() <= rules.ranks.begin) return {};
  const std::span<const Hit> range = candidates.subspan(rules.ranks.begin);
  const size_t count = std::min(rules.negatives, range.size());
  if (!rules.random) return {range.begin(), range.begin() + static_cast<std::ptrdiff_t>(count)};
  std::vector<std::pair<uint64_t, uint32_t>> drawn;  // key, place in the range
  for (uint32_t i = 0; i < range.size(); ++i) {
    drawn.emplace_back(DrawKey(rules, query, range[i].document), i);
  }
  const auto last = drawn.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(drawn.begin(), last, drawn.end());
  std::sort(drawn.begin(), last, [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<Hit> negatives;
  for (auto at = drawn.begin(); at != last; ++at) negatives.push_back(range[at->second]);
  return negatives;
}

}  // namespace tandem::search
