// What `tandem explain` says of objectives.
#pragma once

#include <string>

#include "config/catalogue.h"

namespace tandem::app {

// Purpose, formula and needs of an entry of the catalogue of objectives, as text for a terminal.
std::string ExplainObjective(const config::EntryInfo& entry);

// The reference of all objectives in Markdown: a part of docs/objectives.md.
std::string ObjectiveReference();

}  // namespace tandem::app
