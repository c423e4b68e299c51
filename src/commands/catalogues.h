// Lists all catalogues, for recipes, `tandem list`, `tandem explain` and the reference documents.
#pragma once

#include <span>

#include "config/catalogue.h"

namespace tandem::app {

// Returns samplers, objectives, optimizers, schedules, measures, encoders, kinds of indexes,
// sources of pairs and commands, in the order in which a run uses them.
std::span<const config::Catalogue> AllCatalogues();

}  // namespace tandem::app
