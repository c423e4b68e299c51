// The texts of `tandem explain` about objectives.
#pragma once

#include <string>

#include "config/catalogue.h"

namespace tandem::app {

// Returns purpose, formula and needs of an entry of the catalogue of objectives, as text for a
// terminal.
std::string ExplainObjective(const config::EntryInfo& entry);

// Returns the reference of all objectives in Markdown: a part of docs/objectives.md.
std::string ObjectiveReference();

}  // namespace tandem::app
