#include "sampling/pruning/query_ranking.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace tandem::sampling {
namespace {

constexpr uint32_t kSign = 0x80000000;

}  // namespace

// The bits of a float ascend with its value where the sign bit of positive numbers is set and all
// bits of negative numbers are turned over; here once more, as the best comes first.
uint64_t QueryRanking::Key(float score, uint32_t query) {
  const auto bits = std::bit_cast<uint32_t>(score + 0.0F);  // -0 is 0
  const uint32_t ascending = (bits & kSign) != 0 ? ~bits : bits | kSign;
  return uint64_t{~ascending} << 32 | query;
}

float QueryRanking::ScoreOf(uint64_t key) {
  const uint32_t ascending = ~static_cast<uint32_t>(key >> 32);
  return std::bit_cast<float>((ascending & kSign) != 0 ? ascending & ~kSign : ~ascending);
}

void QueryRanking::Start() {
  std::sort(keys_.begin(), keys_.end());
  for (size_t place = 0; place < keys_.size(); ++place) {
    places_[QueryOf(keys_[place])] = static_cast<uint32_t>(place);
  }
  for (size_t i = 0; i < pool_.size(); ++i) index_[pool_[i]] = static_cast<uint32_t>(i);
  drawn_at_.assign(keys_.size() + 1, 0);
  open_ = undrawn_ = pool_.size();
  best_ = 0;
  better_ = 0;
}

void QueryRanking::SwapInPool(size_t a, size_t b) {
  std::swap(pool_[a], pool_[b]);
  index_[pool_[a]] = static_cast<uint32_t>(a);
  index_[pool_[b]] = static_cast<uint32_t>(b);
}

void QueryRanking::Skip(size_t index) { SwapInPool(index, --open_); }

void QueryRanking::Draw(uint32_t query) {
  size_t at = index_[query];
  if (at < open_) {
    SwapInPool(at, --open_);
    at = open_;
  }
  SwapInPool(at, --undrawn_);
  const uint32_t place = places_[query];
  ++drawn_at_[place];
  if (place <= best_) ++better_;
  Advance();
}

void QueryRanking::Advance() {
  while (best_ < keys_.size() && is_drawn(QueryOf(keys_[best_]))) better_ += drawn_at_[++best_];
}

std::vector<uint32_t> QueryRanking::PlacesOf(std::span<const uint64_t> keys) const {
  std::vector<uint32_t> places(keys.size(), 0);
  for (size_t left = keys_.size(); left > 0;) {
    const size_t half = (left + 1) / 2;
    for (size_t i = 0; i < keys.size(); ++i) {
      const size_t last = places[i] + half - 1;
      if (last < keys_.size() && keys_[last] < keys[i]) places[i] += static_cast<uint32_t>(half);
    }
    left -= half;
  }
  return places;
}

void QueryRanking::Move(std::span<const uint32_t> queries, std::span<const float> scores) {
  std::vector<uint64_t> keys(queries.size());
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = Key(scores[i], queries[i]);
  const std::vector<uint32_t> places = PlacesOf(keys);
  for (size_t i = 0; i < keys.size(); ++i) MoveTo(queries[i], places[i]);
}

void QueryRanking::MoveTo(uint32_t query, uint32_t place) {
  const uint32_t old = places_[query];
  --drawn_at_[old];
  if (old <= best_) --better_;
  places_[query] = place;
  ++drawn_at_[place];
  if (place <= best_) ++better_;
}

void QueryRanking::RestorePool(std::span<const uint32_t> pool, size_t undrawn) {
  pool_.assign(pool.begin(), pool.end());
  for (size_t i = 0; i < pool_.size(); ++i) index_[pool_[i]] = static_cast<uint32_t>(i);
  open_ = undrawn_ = undrawn;
  for (size_t i = undrawn; i < pool_.size(); ++i) ++drawn_at_[places_[pool_[i]]];
  best_ = 0;
  better_ = drawn_at_[0];
  Advance();
}

}  // namespace tandem::sampling
