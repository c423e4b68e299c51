// Runs the command line: global flags, commands, and the reports of errors.
#pragma once

#include <span>

#include "cli/command.h"
#include "cli/help/command_description.h"

namespace tandem::app {

using CommandTable = std::span<const Command* const>;

// Parses and runs one of `commands`; prints errors on stderr and returns the exit code
// (base/error.h). If stdout is a closed pipe, the program ends without an error message.
int RunCommandLine(CommandTable commands, int argc, const char* const* argv);

// Describes `commands` with their flags, as their help shows them.
CommandDescription DescribeProgram(CommandTable commands);

}  // namespace tandem::app
