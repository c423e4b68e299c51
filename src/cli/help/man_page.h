// Manual pages, in the macros of man(7), from the same descriptions as the help.
#pragma once

#include <string>

#include "cli/help/command_description.h"

namespace tandem::app {

// The page of the program (tandem.1): its commands, exit codes and environment.
std::string ProgramManPage(const CommandDescription& program);

// The page of one of the program's commands (tandem-COMMAND.1); a command that has commands of its
// own has a section for each.
std::string CommandManPage(const CommandDescription& command);

// `text` as it may stand in a page: nothing in it is a request or an escape, hyphens are those that
// are typed.
std::string ManText(const std::string& text);

}  // namespace tandem::app
