#include <algorithm>
#include <numeric>
#include <utility>

#include "sampling/passes.h"

namespace tandem::sampling {

PlannedPass::PlannedPass(std::vector<Draw> draws, const SharedKeys& keys, size_t batch,
                         RandomStream random)
    : draws_(std::move(draws)) {
  SortByBatch(ComposeEvenly(keys.Of(draws_), batch, random));
}

void PlannedPass::SortByBatch(const std::vector<uint32_t>& batch_of) {
  starts_.assign(1 + *std::max_element(batch_of.begin(), batch_of.end()) + size_t{1}, 0);
  for (const uint32_t batch : batch_of) ++starts_[batch + size_t{1}];
  std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
  std::vector<size_t> place(starts_.begin(), starts_.end() - 1);
  std::vector<Draw> sorted(draws_.size());
  for (size_t i = 0; i < batch_of.size(); ++i) sorted[place[batch_of[i]]++] = draws_[i];
  draws_ = std::move(sorted);
}

std::vector<Draw> PlannedPass::Next(double /*progress*/, bool /*rank_anew*/) {
  const auto begin = draws_.begin() + static_cast<ptrdiff_t>(starts_[next_]);
  const auto end = draws_.begin() + static_cast<ptrdiff_t>(starts_[next_ + 1]);
  ++next_;
  return {begin, end};
}

void PlannedPass::Save(SamplerState& state) const { state.values["batch"] = next_; }

void PlannedPass::Restore(const SamplerState& state) {
  next_ = std::min<size_t>(state.values.at("batch").get<size_t>(), starts_.size() - 1);
}

}  // namespace tandem::sampling
