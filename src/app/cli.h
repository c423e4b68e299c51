// The command line: global flags, commands, and what becomes of errors.
#pragma once

#include "app/command_description.h"

namespace tandem::app {

// Parses and runs; prints errors on stderr and returns the exit code (base/error.h). A closed pipe
// on stdout ends quietly.
int RunCommandLine(int argc, const char* const* argv);

// All commands with their flags, as their help shows them.
CommandDescription DescribeProgram();

}  // namespace tandem::app
