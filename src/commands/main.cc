// The entry of the program `tandem`: parses the command line, runs the command, and turns errors
// into exit codes.
#include <csignal>

#include "back_end/load.h"
#include "cli/cli.h"
#include "cli/process/short_waits.h"
#include "commands/commands.h"

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the file size limit then fails with a message
  tandem::app::RememberArguments(argc, argv);
  tandem::back_end::UsePlugIn();
  return tandem::app::RunCommandLine(tandem::app::Commands(), argc, argv);
}
