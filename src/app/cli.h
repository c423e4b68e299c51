// The command line: global flags, commands, and what becomes of errors.
#pragma once

namespace tandem::app {

// Parses and runs; prints errors on stderr and returns the exit code (base/error.h). A closed pipe
// on stdout ends quietly.
int RunCommandLine(int argc, const char* const* argv);

}  // namespace tandem::app
