// All commands of `tandem`. The table is written from CMakeLists.txt.
#pragma once

#include <span>

#include "cli/command.h"
#include "config/catalogue.h"

namespace tandem::app {

// Every command in the order of `tandem --help`.
std::span<const Command* const> Commands();
// What `tandem list` and `tandem explain` show of them.
config::Catalogue CommandCatalogue();

}  // namespace tandem::app
