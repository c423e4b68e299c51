// The entry of both programs, `tandem` and `tandem-torch`: parses the command line, runs the
// command, and turns errors into exit codes.
#include <csignal>

#include "cli/cli.h"
#include "cli/process/torch_half.h"
#include "commands/commands.h"

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the file size limit then fails with a message
  tandem::app::RememberArguments(argc, argv);
  return tandem::app::RunCommandLine(tandem::app::Commands(), argc, argv);
}
