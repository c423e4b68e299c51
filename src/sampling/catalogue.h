// All samplers by their names in recipes.
#pragma once

#include <memory>
#include <span>

#include "config/catalogue.h"
#include "sampling/sampler.h"

namespace tandem::sampling {

struct SamplerInfo : config::EntryInfo {
  // Every query of `examples` needs a positive, or with `graded_own` a judged document:
  // std::invalid_argument otherwise, and where there is no query. `examples` must outlive the
  // sampler.
  std::unique_ptr<Sampler> (*make)(const Examples& examples, const SamplerOptions& options);
};

std::span<const SamplerInfo* const> Samplers();

// Each is defined in its own file.
extern const SamplerInfo kUniform;

}  // namespace tandem::sampling
