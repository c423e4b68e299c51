// All catalogues: the one list that recipes, `tandem list`, `tandem explain` and the reference docs
// read.
#pragma once

#include <span>

#include "config/catalogue.h"

namespace tandem::app {

// Samplers, objectives, optimizers, schedules, measures, encoders, kinds of indexes and commands,
// in the order in which the parts of a run come.
std::span<const config::Catalogue> AllCatalogues();

}  // namespace tandem::app
