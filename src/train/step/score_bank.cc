#include "train/step/score_bank.h"

#include <algorithm>

#include "base/json/json.h"

namespace tandem::train {

void ScoreBank::DropFirst(size_t count) {
  scores_.erase(scores_.begin(), scores_.begin() + static_cast<std::ptrdiff_t>(count));
  while (count > 0) {
    const size_t here = std::min(count, blocks_.front().count);
    blocks_.front().count -= here;
    count -= here;
    if (blocks_.front().count == 0) blocks_.pop_front();
  }
}

void ScoreBank::DropOld(int64_t step) {
  if (max_age_ == 0) return;
  size_t old = 0;
  for (const Block& block : blocks_) old += step - block.step > max_age_ ? block.count : 0;
  DropFirst(old);
}

void ScoreBank::Add(int64_t step, size_t total, const std::function<double()>& next) {
  const auto capacity = static_cast<size_t>(capacity_);
  const size_t count = std::min(total, capacity);
  if (count == 0) return;
  if (scores_.size() + count > capacity) DropFirst(scores_.size() + count - capacity);
  for (size_t i = 0, kept = 0; i < total && kept < count; ++i) {
    const double score = next();
    if (i < kept * total / count) continue;
    scores_.push_back(static_cast<float>(score));
    ++kept;
  }
  blocks_.push_back({step, count});
}

Json ScoreBank::State() const {
  Json state = Json::array();
  for (const Block& block : blocks_) state.push_back({block.step, block.count});
  return state;
}

void ScoreBank::Restore(const Json& state) {
  blocks_.clear();
  size_t count = 0;
  for (const Json& block : state) {
    blocks_.push_back({block.at(0).get<int64_t>(), block.at(1).get<size_t>()});
    count += blocks_.back().count;
  }
  scores_.assign(count, 0);
}

}  // namespace tandem::train
