#include "sampling/mixing/source_orders.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace tandem::sampling {
namespace {

constexpr const char* kSources = "sources";

// The arrays of one source stand under its name among those of all.
std::string Prefix(const SourceOrder& part) { return fmt::format("source{}.", part.place + 1); }

SamplerState StateOf(const SamplerState& all, const SourceOrder& part, const std::string& values) {
  SamplerState state{.values = all.values.at(kSources).at(values)};
  const std::string prefix = Prefix(part);
  for (const StateArray& array : all.arrays) {
    if (!array.name.starts_with(prefix)) continue;
    state.arrays.push_back({array.name.substr(prefix.size()), array.values});
  }
  return state;
}

void CheckSources(std::span<const uint32_t> sources, size_t queries, size_t count) {
  if (sources.size() != queries || !std::is_sorted(sources.begin(), sources.end()) ||
      (!sources.empty() && sources.back() >= count)) {
    throw std::invalid_argument("each query needs a source, and sources need to ascend");
  }
}

}  // namespace

SourceOrders::SourceOrders(const Pairs& pairs, std::span<const uint32_t> sources,
                           std::span<const double> weights, const Make& make)
    : queries_(pairs.queries()), pairs_(pairs.size()) {
  CheckSources(sources, queries_, weights.size());
  const std::vector<double> shares = SharesOf(weights);
  for (uint32_t source = 0; source < shares.size(); ++source) {
    if (shares[source] == 0) continue;
    const auto [begin, end] = std::equal_range(sources.begin(), sources.end(), source);
    if (begin == end) throw std::invalid_argument("a source has no query to draw");
    const auto first = static_cast<size_t>(begin - sources.begin());
    SourceOrder& part = parts_.emplace_back();
    part.place = source;
    part.first_query = first;
    part.first_pair = pairs.first(first);
    part.share = shares[source];
    part.pairs =
        std::make_unique<Pairs>(pairs.Part(first, static_cast<size_t>(end - sources.begin())));
    part.order = make(*part.pairs, source, part.first_pair);
    part.order->Begin(0, 0);
    shares_.push_back(part.share);
  }
  taken_.assign(size(), 0);
  quotas_.assign(size(), 0);
}

size_t SourceOrders::PartOf(uint32_t query) const {
  const auto behind =
      std::upper_bound(parts_.begin(), parts_.end(), query,
                       [](uint32_t q, const SourceOrder& part) { return q < part.first_query; });
  if (behind == parts_.begin() || !std::prev(behind)->Has(query)) return size();
  return static_cast<size_t>(behind - parts_.begin()) - 1;
}

uint64_t SourceOrders::PassesTogether() const {
  uint64_t draws = 0;
  for (const SourceOrder& part : parts_) draws += part.order->draws();
  return draws;
}

void SourceOrders::BeginEpoch() {
  for (size_t part = 0; part < size(); ++part) taken_[part] += quotas_[part];
  draws_ = PassesTogether();
  quotas_ = EpochQuotas(shares_, taken_, draws_);
}

SourceOrders::EpochPlan SourceOrders::PlanOf(uint64_t epoch) const {
  const uint64_t draws = PassesTogether();
  EpochPlan plan{.taken = std::vector<uint64_t>(size(), 0),
                 .quotas = EpochQuotas(shares_, std::vector<uint64_t>(size(), 0), draws)};
  for (uint64_t e = 0; e < epoch; ++e) {
    for (size_t part = 0; part < size(); ++part) plan.taken[part] += plan.quotas[part];
    plan.quotas = EpochQuotas(shares_, plan.taken, draws);
  }
  return plan;
}

void SourceOrders::BeginEpochOf(uint64_t epoch) {
  EpochPlan plan = PlanOf(epoch);
  draws_ = PassesTogether();
  taken_ = std::move(plan.taken);
  quotas_ = std::move(plan.quotas);
}

std::vector<float> SourceOrders::Probabilities() const {
  std::vector<float> all(pairs_, 0);
  for (size_t part = 0; part < size(); ++part) {
    const SourceOrder& source = parts_[part];
    const std::vector<float> own = source.order->Probabilities();
    const double passes =
        static_cast<double>(quotas_[part]) / static_cast<double>(source.order->draws());
    for (size_t pair = 0; pair < own.size(); ++pair) {
      all[source.first_pair + pair] = static_cast<float>(std::min(1.0, own[pair] * passes));
    }
  }
  return all;
}

std::vector<LeftOut> SourceOrders::NotDrawn(const std::vector<bool>& drawn) const {
  std::vector<float> scores(queries_, std::numeric_limits<float>::quiet_NaN());
  for (const SourceOrder& part : parts_) {
    for (const LeftOut& one : part.order->NotDrawn()) {
      scores[part.first_query + one.query] = one.score;
    }
  }
  std::vector<LeftOut> left_out;
  for (uint32_t query = 0; query < queries_; ++query) {
    if (!drawn[query]) left_out.push_back({query, scores[query]});
  }
  return left_out;
}

void SourceOrders::AddFeedback(const Feedback& feedback) {
  std::vector<Batch> batches(size());
  std::vector<std::vector<float>> cosines(size()), losses(size());
  for (size_t row = 0; row < feedback.batch->rows(); ++row) {
    const uint32_t query = feedback.batch->queries[row];
    const size_t part = PartOf(query);
    if (part == size()) continue;
    batches[part].queries.push_back(query - static_cast<uint32_t>(parts_[part].first_query));
    batches[part].documents.push_back(feedback.batch->documents[row]);
    if (!feedback.cosines.empty()) cosines[part].push_back(feedback.cosines[row]);
    if (!feedback.losses.empty()) losses[part].push_back(feedback.losses[row]);
  }
  for (size_t part = 0; part < size(); ++part) {
    if (batches[part].queries.empty()) continue;
    parts_[part].order->AddFeedback(
        {.batch = &batches[part], .cosines = cosines[part], .losses = losses[part]});
  }
}

void SourceOrders::Save(SamplerState& state) const {
  Json& values = state.values[kSources] = {{"taken", taken_}, {"quotas", quotas_}};
  for (const SourceOrder& part : parts_) {
    SamplerState own{.values = {{"pass", part.pass}, {"given", part.given}}};
    // The order's own state is kept apart, so that it may use any names.
    SamplerState of_order{.values = Json::object()};
    part.order->Save(of_order);
    own.values["order"] = of_order.values;
    values[Prefix(part)] = own.values;
    for (StateArray& array : of_order.arrays) {
      state.arrays.push_back({Prefix(part) + array.name, std::move(array.values)});
    }
  }
}

void SourceOrders::Restore(const SamplerState& state) {
  const Json& values = state.values.at(kSources);
  taken_ = values.at("taken").get<std::vector<uint64_t>>();
  quotas_ = values.at("quotas").get<std::vector<uint64_t>>();
  draws_ = std::accumulate(quotas_.begin(), quotas_.end(), uint64_t{0});
  for (SourceOrder& part : parts_) {
    SamplerState own = StateOf(state, part, Prefix(part));
    part.pass = own.values.at("pass").get<uint64_t>();
    part.given = own.values.at("given").get<uint64_t>();
    own.values = Json(own.values.at("order"));
    part.order->Restore(own, part.pass);
  }
}

}  // namespace tandem::sampling
