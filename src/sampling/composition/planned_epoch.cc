#include <algorithm>
#include <numeric>
#include <utility>

#include "sampling/composition/epochs.h"

namespace tandem::sampling {

DrawBatches DrawBatches::Sorted(std::span<const Draw> draws, std::span<const uint32_t> batch_of) {
  DrawBatches batches;
  if (draws.empty()) return batches;
  std::vector<size_t>& starts = batches.starts;
  starts.assign(1 + *std::max_element(batch_of.begin(), batch_of.end()) + size_t{1}, 0);
  for (const uint32_t batch : batch_of) ++starts[batch + size_t{1}];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::vector<size_t> place(starts.begin(), starts.end() - 1);
  batches.draws.resize(draws.size());
  for (size_t i = 0; i < batch_of.size(); ++i) batches.draws[place[batch_of[i]]++] = draws[i];
  return batches;
}

PlannedEpoch::PlannedEpoch(DrawBatches batches) : batches_(std::move(batches)) {}

std::vector<Draw> PlannedEpoch::Next(double /*progress*/, bool /*rank_anew*/) {
  return batches_.Batch(next_++);
}

void PlannedEpoch::Save(SamplerState& state) const { state.values["batch"] = next_; }

void PlannedEpoch::Restore(const SamplerState& state) {
  next_ = std::min<size_t>(state.values.at("batch").get<size_t>(), batches_.size());
}

}  // namespace tandem::sampling
