// The pairs that the base model scores highest, the same in every epoch, each once an epoch.
//
// The best keep * pairs are kept, over all queries together; ties go by the cosine, then to the
// pair that the data have first. A query is so drawn in proportion to its kept pairs, its document
// uniformly among them; a query without one is not drawn. Masks know all pairs still.
// Source: OPERA SP (Fang et al.). Differs: epochs without replacement.
#include <memory>
#include <string_view>

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

constexpr std::string_view kStaticPruningFormula =
    R"(The base model scores all P pairs of queries and their positives once, before training. The
floor(k P) best of all queries together are kept; an epoch has each of these once, in random order:

  P(q) = kept pairs of q / kept pairs,   P(d | q) = 1 / kept pairs of q

k = keep. score = "cosine" is the cosine of query and document; "consistency" is the reciprocal
rank of the positive among 10,000 random positives of other queries, ties broken by the cosine.)";

constexpr std::string_view kStaticPruningDiffers =
    R"(an epoch draws pairs without replacement, where the paper draws a query and then a
document anew for each example. Equal scores go to the pair that the data have first.)";

}  // namespace

extern const SamplerInfo kStaticPruning{
    {.name = "static_pruning",
     .summary = "the pairs that the base model scores highest, each once per epoch",
     .source = "OPERA (Fang et al.), static pruning",
     .params = kStaticPruningParams,
     .studies = "pruning opera-pruning combinations opera-levels opera-noise "
                "opera-passes combinations-repaired opera-regime"},
    kStaticPruningFormula,
    kStaticPruningDiffers,
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
