// Everything that `tandem list` and `tandem explain` know, as one table.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalogue.h"

namespace tandem::app {

struct CatalogueView {
  std::string_view name;     // plural, as `tandem list` takes it: "objectives"
  std::string_view summary;  // what its entries are
  std::vector<config::EntryInfo> entries;
};

// Objectives, samplers, measures, optimizers, schedules and commands, in the order of the way of
// the data.
std::vector<CatalogueView> AllCatalogues();

}  // namespace tandem::app
