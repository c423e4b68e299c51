// Sets how a run mixes its data sets, by `data.mixture` and the weights of [[data.source]].
#pragma once

#include <cstdint>
#include <span>

#include "config/recipe/recipe.h"
#include "sampling/sampler.h"

namespace tandem::train {

// Sets the mixture in `options`. `sources` [n] has the source of each training query and must
// outlive the making of the sampler.
void SetMixture(const config::DataRecipe& recipe, std::span<const uint32_t> sources,
                sampling::SamplerOptions& options);

// Notes the share that each source has of an epoch of `draws` queries, if the recipe sets shares
// other than the sources' sizes.
void NoteMixture(const config::DataRecipe& recipe, std::span<const uint32_t> sources,
                 uint64_t draws);

}  // namespace tandem::train
