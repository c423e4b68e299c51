#include "train/inputs/run_mixture.h"

#include <fmt/format.h>

#include <vector>

#include "base/log.h"
#include "sampling/mixing/mixture.h"

namespace tandem::train {

void SetMixture(const config::DataRecipe& recipe, std::span<const uint32_t> sources,
                sampling::SamplerOptions& options) {
  if (recipe.mixture == "size" || recipe.sources.size() < 2) return;
  const bool by_weight = recipe.mixture == "weight";
  options.mixture = by_weight ? sampling::Mixture::kWeight : sampling::Mixture::kRoundRobin;
  options.sources = sources;
  for (const config::SourceRecipe& source : recipe.sources) {
    options.weights.push_back(by_weight ? source.weight : 1);
  }
}

void NoteMixture(const config::DataRecipe& recipe, std::span<const uint32_t> sources,
                 uint64_t draws) {
  sampling::SamplerOptions options;
  SetMixture(recipe, sources, options);
  if (options.mixture == sampling::Mixture::kSize) return;
  std::vector<uint64_t> queries(options.weights.size(), 0);
  for (const uint32_t source : sources) ++queries[source];
  const std::vector<double> shares = sampling::SharesOf(options.weights);
  for (size_t i = 0; i < shares.size(); ++i) {
    Note(
        fmt::format("source {}: {:.3g} % of an epoch, about {:.0f} of {} draws, of {} training "
                    "queries",
                    recipe.sources[i].path, 100 * shares[i], shares[i] * static_cast<double>(draws),
                    draws, queries[i]));
  }
}

}  // namespace tandem::train
