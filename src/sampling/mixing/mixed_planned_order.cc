#include <algorithm>
#include <bit>
#include <utility>

#include "sampling/mixing/mixed_order.h"

namespace tandem::sampling {
namespace {

constexpr const char* kPlan = "mixed plan";
constexpr const char* kWeights = "mixed weights";
constexpr size_t kPlanNumbers = 3;    // query, document, repeat
constexpr size_t kWeightNumbers = 4;  // repeat, query, the weight's lower and upper half

uint64_t KeyOf(const Draw& draw) { return uint64_t{draw.query} << 32 | draw.repeat; }

}  // namespace

MixedPlannedOrder::MixedPlannedOrder(SourceOrders sources) : sources_(std::move(sources)) {}

void MixedPlannedOrder::Append(size_t part, uint64_t pass, size_t begin, size_t count,
                               uint32_t number, std::vector<Draw>& draws) const {
  const SourceOrder& source = sources_[part];
  const std::vector<Draw> all = Planned(part).Plan(pass);
  for (size_t i = begin; i < std::min(all.size(), begin + count); ++i) {
    Draw draw = all[i];
    // Extra documents are drawn anew in each pass of the epoch.
    draw.repeat += number * static_cast<uint32_t>(source.pairs->count(draw.query));
    draw.query += static_cast<uint32_t>(source.first_query);
    draws.push_back(draw);
  }
}

std::vector<Draw> MixedPlannedOrder::InTurns(const std::vector<uint64_t>& quotas,
                                             const std::vector<std::vector<Draw>>& draws) {
  Turns turns(quotas);
  const std::vector<bool> none(quotas.size());
  std::vector<Draw> mixed;
  while (const std::optional<size_t> part = turns.Next(none)) {
    mixed.push_back(draws[*part][turns.taken()[*part]]);
    turns.Take(*part);
  }
  return mixed;
}

std::vector<Draw> MixedPlannedOrder::Plan(uint64_t epoch) const {
  if (!known_ahead()) return plan_;
  const SourceOrders::EpochPlan plan = sources_.PlanOf(epoch);
  std::vector<std::vector<Draw>> draws(sources_.size());
  for (size_t part = 0; part < sources_.size(); ++part) {
    const uint64_t length = Planned(part).draws();
    uint64_t pass = plan.taken[part] / length, begin = plan.taken[part] % length;
    for (uint32_t number = 0; draws[part].size() < plan.quotas[part]; ++number) {
      Append(part, pass++, begin, plan.quotas[part] - draws[part].size(), number, draws[part]);
      begin = 0;
    }
  }
  return InTurns(plan.quotas, draws);
}

// The next `count` draws of a part, whose passes follow from what has been learned.
std::vector<Draw> MixedPlannedOrder::DrawAll(size_t part, size_t count, double progress) {
  SourceOrder& source = sources_[part];
  std::vector<Draw> draws;
  for (uint32_t number = 0; draws.size() < count; ++number) {
    if (source.AtEnd()) source.BeginNext(progress);
    const size_t before = draws.size();
    Append(part, source.pass, source.given, count - before, number, draws);
    source.given += draws.size() - before;
    for (size_t i = before; i < draws.size(); ++i) {
      Draw own = draws[i];
      own.query -= static_cast<uint32_t>(source.first_query);
      const double weight = source.order->weight(own);
      if (weight != 1) weights_.push_back({KeyOf(draws[i]), weight});
    }
  }
  return draws;
}

void MixedPlannedOrder::Begin(uint64_t epoch, double progress) {
  epoch_ = epoch;
  if (known_ahead()) {
    sources_.BeginEpochOf(epoch);
    return;
  }
  for (size_t part = 0; part < sources_.size(); ++part) {
    if (sources_[part].AtEnd()) sources_[part].BeginNext(progress);
  }
  sources_.BeginEpoch();
  weights_.clear();
  std::vector<std::vector<Draw>> draws;
  for (size_t part = 0; part < sources_.size(); ++part) {
    draws.push_back(DrawAll(part, sources_.quotas()[part], progress));
  }
  plan_ = InTurns(sources_.quotas(), draws);
  std::sort(weights_.begin(), weights_.end(),
            [](const Weight& a, const Weight& b) { return a.draw < b.draw; });
}

size_t MixedPlannedOrder::DrawsIn(uint64_t epoch) const {
  size_t draws = 0;
  for (size_t part = 0; part < sources_.size(); ++part) draws += Planned(part).DrawsIn(epoch);
  return draws;
}

double MixedPlannedOrder::weight(const Draw& draw) const {
  const auto found =
      std::lower_bound(weights_.begin(), weights_.end(), KeyOf(draw),
                       [](const Weight& one, uint64_t key) { return one.draw < key; });
  return found != weights_.end() && found->draw == KeyOf(draw) ? found->weight : 1;
}

std::vector<LeftOut> MixedPlannedOrder::NotDrawn() const {
  std::vector<bool> drawn(sources_.queries());
  for (const Draw& draw : Plan(epoch_)) drawn[draw.query] = true;
  return sources_.NotDrawn(drawn);
}

// The epoch may begin and end within a pass.
size_t MixedPlannedOrder::most_passes(uint32_t query) const {
  const size_t part = sources_.PartOf(query);
  if (part == sources_.size()) return 0;
  const SourceOrder& source = sources_[part];
  const double quota = source.share * static_cast<double>(DrawsIn(0)) + 1;
  return 2 + static_cast<size_t>(quota / static_cast<double>(Planned(part).DrawsIn(0)));
}

void MixedPlannedOrder::Save(SamplerState& state) const {
  sources_.Save(state);
  std::vector<uint32_t> plan, weights;
  plan.reserve(kPlanNumbers * plan_.size());
  for (const Draw& draw : plan_) {
    for (const uint32_t number : {draw.query, draw.document, draw.repeat}) plan.push_back(number);
  }
  for (const Weight& one : weights_) {
    for (const uint64_t bits : {one.draw, std::bit_cast<uint64_t>(one.weight)}) {
      weights.push_back(static_cast<uint32_t>(bits));
      weights.push_back(static_cast<uint32_t>(bits >> 32));
    }
  }
  state.Add(kPlan, std::move(plan));
  state.Add(kWeights, std::move(weights));
}

void MixedPlannedOrder::Restore(const SamplerState& state, uint64_t epoch) {
  epoch_ = epoch;
  sources_.Restore(state);
  const auto plan = state.Integers(kPlan, kPlanNumbers * sources_.draws());
  plan_.clear();
  for (size_t i = 0; i < plan.size(); i += kPlanNumbers) {
    plan_.push_back({.query = plan[i], .document = plan[i + 1], .repeat = plan[i + 2]});
  }
  const auto weights = state.Integers(kWeights);
  weights_.clear();
  for (size_t i = 0; i + kWeightNumbers <= weights.size(); i += kWeightNumbers) {
    weights_.push_back({uint64_t{weights[i + 1]} << 32 | weights[i],
                        std::bit_cast<double>(uint64_t{weights[i + 3]} << 32 | weights[i + 2])});
  }
}

}  // namespace tandem::sampling
