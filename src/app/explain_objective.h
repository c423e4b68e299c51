// What `tandem explain` says of objectives.
#pragma once

#include <string>
#include <string_view>

namespace tandem::app {

// Purpose, formula and needs, as text for a terminal.
std::string ExplainObjective(std::string_view name);

// The reference of all objectives in Markdown: a part of docs/objectives.md.
std::string ObjectiveReference();

}  // namespace tandem::app
