// How a run mixes its data sets: `data.mixture` and the weights of [[data.source]].
#pragma once

#include <cstdint>
#include <span>

#include "config/recipe/recipe.h"
#include "sampling/sampler.h"

namespace tandem::train {

// `sources` [n], the source of each training query, must outlive the sampler's making.
void SetMixture(const config::DataRecipe& recipe, std::span<const uint32_t> sources,
                sampling::SamplerOptions& options);

// Notes how much of an epoch of `draws` each source is, where sources do not simply count by their
// size.
void NoteMixture(const config::DataRecipe& recipe, std::span<const uint32_t> sources,
                 uint64_t draws);

}  // namespace tandem::train
