#include <utility>

#include "sampling/mixing/mixed_order.h"

namespace tandem::sampling {
namespace {

constexpr const char* kDrawn = "mixed drawn";

}  // namespace

MixedSteppedOrder::MixedSteppedOrder(SourceOrders sources)
    : sources_(std::move(sources)), first_passes_(sources_.size()), skipped_(sources_.size()) {}

void MixedSteppedOrder::Begin(uint64_t /*epoch*/, double progress) {
  progress_ = progress;
  for (size_t part = 0; part < sources_.size(); ++part) {
    SourceOrder& source = sources_[part];
    if (source.AtEnd()) source.BeginNext(progress);
    first_passes_[part] = source.pass;
    Stepped(part).BeginBatch(progress, false);  // Probabilities are those of this progress
  }
  sources_.BeginEpoch();
  turns_ = Turns(sources_.quotas());
  drawn_.assign(sources_.queries(), false);
  proposing_.reset();
}

size_t MixedSteppedOrder::DrawsIn(uint64_t epoch) const {
  size_t draws = 0;
  for (size_t part = 0; part < sources_.size(); ++part) draws += Stepped(part).DrawsIn(epoch);
  return draws;
}

void MixedSteppedOrder::BeginBatch(double progress, bool rank_anew) {
  progress_ = progress;
  proposing_.reset();
  skipped_.assign(sources_.size(), false);
  for (size_t part = 0; part < sources_.size(); ++part) {
    Stepped(part).BeginBatch(progress, rank_anew);
  }
}

std::optional<Draw> MixedSteppedOrder::Propose() {
  while (const std::optional<size_t> part = turns_.Next(skipped_)) {
    SourceOrder& source = sources_[*part];
    if (source.AtEnd()) source.BeginNext(progress_);
    if (std::optional<Draw> draw = Stepped(*part).Propose()) {
      proposing_ = part;
      draw->repeat += static_cast<uint32_t>(source.pass - first_passes_[*part]);
      draw->query += static_cast<uint32_t>(source.first_query);
      return draw;
    }
    skipped_[*part] = true;
  }
  return std::nullopt;
}

void MixedSteppedOrder::Take() {
  SourceOrder& source = sources_[*proposing_];
  const std::optional<Draw> draw = Stepped(*proposing_).Propose();
  drawn_[source.first_query + draw->query] = true;
  Stepped(*proposing_).Take();
  ++source.given;
  turns_.Take(*proposing_);
}

void MixedSteppedOrder::Save(SamplerState& state) const {
  sources_.Save(state);
  state.values["turns"] = turns_.taken();
  state.values["first_passes"] = first_passes_;
  state.Add(kDrawn, std::vector<uint8_t>(drawn_.begin(), drawn_.end()));
}

void MixedSteppedOrder::Restore(const SamplerState& state, uint64_t /*epoch*/) {
  sources_.Restore(state);
  turns_ = Turns(sources_.quotas());
  turns_.Restore(state.values.at("turns").get<std::vector<uint64_t>>());
  first_passes_ = state.values.at("first_passes").get<std::vector<uint64_t>>();
  const auto drawn = state.Bytes(kDrawn, sources_.queries());
  drawn_.assign(drawn.begin(), drawn.end());
  proposing_.reset();
}

}  // namespace tandem::sampling
