#include "commands/catalogues.h"

#include <vector>

#include "commands/commands.h"
#include "commands/explain/explain_encoder.h"
#include "commands/explain/explain_objective.h"
#include "commands/explain/explain_sampler.h"
#include "documents/pair_source.h"
#include "eval/measure.h"
#include "index/vector_index.h"
#include "objective/catalogue.h"
#include "optim/catalogue.h"
#include "sampling/catalogue.h"

namespace tandem::app {

std::span<const config::Catalogue> AllCatalogues() {
  static const std::vector<config::Catalogue> all = [] {
    std::vector<config::Catalogue> catalogues = {
        sampling::SamplerCatalogue(), objective::ObjectiveCatalogue(),  optim::OptimizerCatalogue(),
        optim::ScheduleCatalogue(),   eval::MeasureCatalogue(),         EncoderCatalogue(),
        index::IndexKindCatalogue(),  documents::PairSourceCatalogue(), CommandCatalogue()};
    for (config::Catalogue& catalogue : catalogues) {
      if (catalogue.name == "objectives") catalogue.details = ExplainObjective;
      if (catalogue.name == "samplers") catalogue.details = ExplainSampler;
    }
    return catalogues;
  }();
  return all;
}

}  // namespace tandem::app
