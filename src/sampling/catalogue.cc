#include "sampling/catalogue.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/random.h"
#include "sampling/mixing/mixed_order.h"
#include "sampling/ordered_sampler.h"

namespace tandem::sampling {

config::Catalogue SamplerCatalogue() {
  return {.name = "samplers",
          .entry = "sampler",
          .table = "sampling",
          .summary = "which examples come next: sampling.name",
          .entries = config::EntriesOf(Samplers())};
}

namespace {

std::span<const float> PartOf(std::span<const float> scores, size_t first, size_t count) {
  return scores.size() < first + count ? std::span<const float>() : scores.subspan(first, count);
}

// The order of source `source`, with random streams of its own.
std::unique_ptr<Order> MakePart(const SamplerInfo& info, const OrderOptions& options, Pairs& pairs,
                                size_t source, size_t first_pair) {
  OrderOptions own = options;
  own.seed = RandomStream({options.seed, "source", source}).Next();
  own.scores = {.cosines = PartOf(options.scores.cosines, first_pair, pairs.size()),
                .consistencies = PartOf(options.scores.consistencies, first_pair, pairs.size())};
  try {
    return info.order(pairs, own);
  } catch (const OrderProblem& problem) {
    throw OrderProblem(problem.key(),
                       fmt::format("{} (of data.source.{})", problem.what(), source + 1));
  }
}

std::unique_ptr<Order> MakeMixed(const SamplerInfo& info, const OrderOptions& options,
                                 const SamplerOptions& mixed, const Pairs& pairs) {
  std::vector<double> weights = mixed.weights;
  if (weights.empty() && !mixed.sources.empty()) weights.assign(mixed.sources.back() + 1, 1.0);
  SourceOrders sources(pairs, mixed.sources, weights,
                       [&](Pairs& part, size_t source, size_t first_pair) {
                         return MakePart(info, options, part, source, first_pair);
                       });
  if (dynamic_cast<SteppedOrder*>(sources[0].order.get()) != nullptr) {
    return std::make_unique<MixedSteppedOrder>(std::move(sources));
  }
  return std::make_unique<MixedPlannedOrder>(std::move(sources));
}

}  // namespace

std::unique_ptr<Sampler> SamplerInfo::make(const Examples& examples,
                                           const SamplerOptions& options) const {
  OrderOptions for_order{.seed = options.seed, .params = options.params, .scores = options.scores};
  if (for_order.params.infos().empty()) for_order.params = config::Params(params);
  return std::make_unique<OrderedSampler>(examples, options, [&](Pairs& pairs) {
    return options.mixture == Mixture::kSize ? order(pairs, for_order)
                                             : MakeMixed(*this, for_order, options, pairs);
  });
}

}  // namespace tandem::sampling
