#include "sampling/composition/pooled_epoch.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "base/error.h"

namespace tandem::sampling {
namespace {

// Arrays of a state. A draw has kDrawNumbers of them: query, document, repeat.
constexpr const char* kPool = "drawn ahead";
constexpr const char* kReady = "composed";
constexpr const char* kReadyStarts = "composed starts";
constexpr size_t kDrawNumbers = 3;

std::vector<uint32_t> NumbersOf(std::span<const Draw> draws) {
  std::vector<uint32_t> numbers;
  for (const Draw& draw : draws) {
    numbers.insert(numbers.end(), {draw.query, draw.document, draw.repeat});
  }
  return numbers;
}

std::vector<Draw> DrawsOf(std::span<const uint32_t> numbers) {
  std::vector<Draw> draws;
  for (size_t i = 0; i + kDrawNumbers <= numbers.size(); i += kDrawNumbers) {
    draws.push_back({numbers[i], numbers[i + 1], numbers[i + 2]});
  }
  return draws;
}

}  // namespace

PooledEpoch::PooledEpoch(SteppedOrder& order, const BatchComposer& composer, uint64_t seed,
                         uint64_t epoch)
    : order_(order), composer_(composer), seed_(seed), epoch_(epoch) {}

std::vector<Draw> PooledEpoch::Next(double progress, bool rank_anew) {
  rank_anew_ = rank_anew_ || rank_anew;
  if (next_ == ready_.size()) Refill(progress);
  std::vector<Draw> batch = ready_.Batch(next_++);
  ++batches_;
  placed_ += batch.size();
  return batch;
}

void PooledEpoch::Refill(double progress) {
  order_.BeginBatch(progress, std::exchange(rank_anew_, false));
  std::vector<Draw> ready;
  while (ready.empty()) ready = TakeReady(DrawAhead());
  const auto number = static_cast<uint32_t>(pools_++);
  ready_ = composer_.Compose(ready, RandomStream({seed_, "sampling pools", epoch_, number}));
  next_ = 0;
}

bool PooledEpoch::DrawAhead() {
  const uint64_t wanted = uint64_t{kPoolBatches} * composer_.limit();
  for (uint64_t size = 0; size < wanted;) {
    const std::optional<Draw> draw = order_.Propose();
    if (!draw) return true;
    order_.Take();
    pool_.push_back(*draw);
    size += composer_.SizeOf(*draw);
  }
  return false;
}

// Returns how many draws may leave the pool. Those that stay make at least one batch, so that the
// last batches of a task can be of even size.
size_t PooledEpoch::ReadyOf(const std::vector<uint32_t>& sizes) const {
  const size_t limit = composer_.limit();
  if (!composer_.by_tokens()) return std::max<size_t>(1, sizes.size() / limit) * limit - limit;
  uint64_t left = std::accumulate(sizes.begin(), sizes.end(), uint64_t{0});
  if (left < 3 * uint64_t{limit}) return 0;
  size_t ready = 0;
  while (left - sizes[ready] >= limit) left -= sizes[ready++];
  return ready;
}

std::vector<Draw> PooledEpoch::TakeReady(bool all) {
  if (all) return std::exchange(pool_, {});
  std::map<uint32_t, std::vector<uint32_t>> sizes;  // of each task's draws
  for (const Draw& draw : pool_) {
    sizes[composer_.TaskOf(draw)].push_back(composer_.SizeOf(draw));
  }
  std::map<uint32_t, size_t> wanted;
  for (const auto& [task, all_sizes] : sizes) wanted[task] = ReadyOf(all_sizes);
  std::vector<Draw> ready, rest;
  for (const Draw& draw : pool_) {
    size_t& count = wanted[composer_.TaskOf(draw)];
    (count > 0 ? ready : rest).push_back(draw);
    count -= count > 0 ? 1 : 0;
  }
  pool_ = std::move(rest);
  return ready;
}

void PooledEpoch::Save(SamplerState& state) const {
  state.values["batch"] = batches_;
  state.values["placed"] = placed_;
  state.values["pools"] = pools_;
  state.values["next"] = next_;
  state.values["rank_anew"] = rank_anew_;
  state.Add(kPool, NumbersOf(pool_));
  state.Add(kReady, NumbersOf(ready_.draws));
  state.Add(kReadyStarts, std::vector<uint32_t>(ready_.starts.begin(), ready_.starts.end()));
}

void PooledEpoch::Restore(const SamplerState& state) {
  batches_ = state.values.at("batch").get<uint64_t>();
  placed_ = state.values.at("placed").get<size_t>();
  pools_ = state.values.at("pools").get<uint64_t>();
  next_ = state.values.at("next").get<size_t>();
  rank_anew_ = state.values.at("rank_anew").get<bool>();
  pool_ = DrawsOf(state.Integers(kPool));
  const auto starts = state.Integers(kReadyStarts);
  ready_.starts.assign(starts.begin(), starts.end());
  if (starts.empty() || next_ > ready_.size()) {
    throw ModelError("the checkpoint", kReadyStarts, "does not fit the sampler's other numbers");
  }
  ready_.draws = DrawsOf(state.Integers(kReady, kDrawNumbers * ready_.starts.back()));
}

}  // namespace tandem::sampling
