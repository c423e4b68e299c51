#include "sampling/catalogue.h"

#include "sampling/ordered_sampler.h"

namespace tandem::sampling {

config::Catalogue SamplerCatalogue() {
  return {.name = "samplers",
          .entry = "sampler",
          .table = "sampling",
          .summary = "which examples come next: sampling.name",
          .entries = config::EntriesOf(Samplers())};
}

std::unique_ptr<Sampler> SamplerInfo::make(const Examples& examples,
                                           const SamplerOptions& options) const {
  OrderOptions for_order{.seed = options.seed, .params = options.params, .scores = options.scores};
  if (for_order.params.infos().empty()) for_order.params = config::Params(params);
  return std::make_unique<OrderedSampler>(examples, options,
                                          [&](Pairs& pairs) { return order(pairs, for_order); });
}

}  // namespace tandem::sampling
