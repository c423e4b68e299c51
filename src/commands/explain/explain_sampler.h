// The texts of `tandem explain` about samplers.
#pragma once

#include <string>

#include "config/catalogue.h"

namespace tandem::app {

// Returns the formula of an entry of the catalogue of samplers, and how it differs from its paper,
// as text for a terminal.
std::string ExplainSampler(const config::EntryInfo& entry);

}  // namespace tandem::app
