// The command line: global flags, commands, and what becomes of errors.
#pragma once

#include <span>

#include "cli/command.h"
#include "cli/help/command_description.h"

namespace tandem::app {

using CommandTable = std::span<const Command* const>;

// Parses and runs one of `commands`; prints errors on stderr and returns the exit code
// (base/error.h). A closed pipe on stdout ends quietly.
int RunCommandLine(CommandTable commands, int argc, const char* const* argv);

// `commands` with their flags, as their help shows them.
CommandDescription DescribeProgram(CommandTable commands);

}  // namespace tandem::app
