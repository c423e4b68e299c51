// Writes manual pages, with the macros of man(7), from the descriptions that the help is made of.
#pragma once

#include <string>

#include "cli/help/command_description.h"

namespace tandem::app {

// Returns the page of the program (tandem.1): its commands, exit codes and environment.
std::string ProgramManPage(const CommandDescription& program);

// Returns the page of one of the program's commands (tandem-COMMAND.1). A command with parts has a
// section for each part.
std::string CommandManPage(const CommandDescription& command);

// Escapes `text` for a page: nothing in it is read as a request or an escape, and hyphens are
// printed as they are typed.
std::string ManText(const std::string& text);

}  // namespace tandem::app
