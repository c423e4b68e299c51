// The pairs that the base model scores highest, the same in every epoch, each once an epoch.
//
// The best keep * pairs are kept, over all queries together; ties go by the cosine, then to the
// pair that the data have first. A query is so drawn in proportion to its kept pairs, its document
// uniformly among them; a query without one is not drawn. Masks know all pairs still.
// Source: OPERA SP (Fang et al.). Differs: epochs without replacement.
#include <memory>

#include "sampling/catalogue.h"
#include "sampling/each_pair.h"
#include "sampling/pruning/keep.h"
#include "sampling/pruning/score_choices.h"

namespace tandem::sampling {
namespace {

constexpr config::ParamInfo kStaticPruningParams[] = {
    KeepParam("pairs that are kept, those that the base model scores highest", 0.25), ScoreParam()};

ScoreNeeds StaticPruningScores(const config::Params& params) {
  return {.cosines = true, .consistencies = PrunesByConsistency(params)};
}

}  // namespace

extern const SamplerInfo kStaticPruning{
    {.name = "static_pruning",
     .summary = "the pairs that the base model scores highest, each once per epoch",
     .source = "OPERA (Fang et al.), static pruning",
     .params = kStaticPruningParams},
    [](Pairs& pairs, const OrderOptions& options) -> std::unique_ptr<Order> {
      const InitialScores& scores = options.scores;
      if (PrunesByConsistency(options.params)) {
        KeepBest(pairs, options.params.Number("keep"), {scores.consistencies, scores.cosines});
        return std::make_unique<EachPair>(pairs, options.seed, scores.consistencies);
      }
      KeepBest(pairs, options.params.Number("keep"), {scores.cosines});
      return std::make_unique<EachPair>(pairs, options.seed, scores.cosines);
    },
    StaticPruningScores};

}  // namespace tandem::sampling
