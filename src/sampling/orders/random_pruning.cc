// Draws a share of the pairs at random, the same in every epoch, each once an epoch.
//
// Which pairs are kept follows from the seed. A query without a kept pair is not drawn; masks know
// all pairs still.
// Source: OPERA, the control of static pruning.
#include <memory>
#include <string_view>

#include "sampling/catalogue.h"
#include "sampling/each_pair.h"
#include "sampling/pruning/keep.h"
#include "sampling/pruning/score_choices.h"

namespace tandem::sampling {
namespace {

constexpr config::ParamInfo kRandomPruningParams[] = {
    KeepParam("pairs that are kept, at random", 0.25)};

constexpr std::string_view kRandomPruningFormula =
    R"(Of the P pairs of all queries and their positives floor(k P) are kept, drawn once, before
training; an epoch has each of these once, in random order:

  P(q) = kept pairs of q / kept pairs,   P(d | q) = 1 / kept pairs of q

k = keep.)";

constexpr std::string_view kRandomPruningDiffers =
    R"(an epoch draws pairs without replacement, where the paper draws a query and then a
document anew for each example.)";

}  // namespace

extern const SamplerInfo kRandomPruning{
    {.name = "random_pruning",
     .summary = "a random share of the pairs, the same in every epoch, each once per epoch",
     .source = "OPERA (Fang et al.), the control of static pruning",
     .params = kRandomPruningParams,
     .studies = "pruning opera-pruning opera-noise opera-passes opera-regime"},
    kRandomPruningFormula,
    kRandomPruningDiffers,
    [](Pairs& pairs, const OrderOptions& options) -> std::unique_ptr<Order> {
      KeepRandom(pairs, options.params.Number("keep"), options.seed);
      return std::make_unique<EachPair>(pairs, options.seed);
    }};

}  // namespace tandem::sampling
