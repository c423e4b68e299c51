// Lists all commands of `tandem`. The table is generated from CMakeLists.txt.
#pragma once

#include <span>

#include "cli/command.h"
#include "config/catalogue.h"

namespace tandem::app {

// Returns every command in the order of `tandem --help`.
std::span<const Command* const> Commands();
// Returns the commands as `tandem list` and `tandem explain` show them.
config::Catalogue CommandCatalogue();

}  // namespace tandem::app
