// All samplers by their names in recipes. The table is written from CMakeLists.txt.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "config/catalogue.h"
#include "sampling/order.h"
#include "sampling/sampler.h"

namespace tandem::sampling {

// A sampler of the catalogue is its order; every order works with every composition.
struct SamplerInfo : config::EntryInfo {
  std::string_view formula;  // a few lines of plain text, its symbols explained
  std::string_view differs;  // how it differs from its paper; "" where it does not
  // May leave pairs out (Pairs::Keep). Throws std::invalid_argument where scores that it needs are
  // missing, and OrderProblem where a key does not fit the data.
  std::unique_ptr<Order> (*order)(Pairs& pairs, const OrderOptions& options);
  // The scores that `order` asks for; null: none.
  ScoreNeeds (*needs_scores)(const config::Params& params) = nullptr;
  // Says whether the run's length decides its first batches already; null: it does not. Such a run
  // cannot be made longer.
  bool (*follows_length)(const config::Params& params) = nullptr;
  bool needs_losses = false;  // Feedback::losses

  // Every query of `examples` needs a positive, or with `graded_own` a judged document:
  // std::invalid_argument otherwise, and where there is no query. `examples` must outlive the
  // sampler.
  std::unique_ptr<Sampler> make(const Examples& examples, const SamplerOptions& options) const;

  ScoreNeeds NeedsScores(const config::Params& given) const {
    return needs_scores == nullptr ? ScoreNeeds() : needs_scores(given);
  }
  bool FollowsLength(const config::Params& given) const {
    return follows_length != nullptr && follows_length(given);
  }
};

// Every sampler, in the order of docs and `tandem list samplers`.
std::span<const SamplerInfo* const> Samplers();
// The catalogue of samplers for recipes, `tandem list` and `tandem explain`.
config::Catalogue SamplerCatalogue();

// Each is defined in its own file. Validation uses kUniform, whatever the recipe's is.
extern const SamplerInfo kUniform;
extern const SamplerInfo kRandomPruning;
extern const SamplerInfo kStaticPruning;
extern const SamplerInfo kDynamicPruning;
extern const SamplerInfo kInfoBatch;

}  // namespace tandem::sampling
