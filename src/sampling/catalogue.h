// All samplers by their names in recipes. The table is written from CMakeLists.txt.
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

// Every sampler, in the order of docs and `tandem list samplers`.
std::span<const SamplerInfo* const> Samplers();
// The same for recipes, `tandem list` and `tandem explain`.
config::Catalogue SamplerCatalogue();

// The one that validation uses, whatever the recipe's is; defined in its own file, as are all
// others.
extern const SamplerInfo kUniform;

}  // namespace tandem::sampling
