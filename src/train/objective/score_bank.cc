#include "train/objective/score_bank.h"

#include <algorithm>
#include <utility>

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

void ScoreBank::VisitState(StateVisitor visit, const char* name) {
  std::vector<std::pair<int64_t, uint64_t>> blocks;
  for (const Block& block : blocks_) blocks.emplace_back(block.step, block.count);
  visit.Member(name, blocks);
  if (!visit.reads()) return;
  blocks_.clear();
  size_t total = 0;
  for (const auto& [step, count] : blocks) {
    blocks_.push_back({step, count});
    total += count;
  }
  scores_.assign(total, 0);
}

}  // namespace tandem::train
