// Entry of both programs, `tandem` and `tandem-torch`: parse, dispatch, turn errors into exit
// codes.
#include <csignal>

#include "app/cli.h"
#include "app/torch_half.h"

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a full disk is an error with a message, not a signal
  tandem::app::RememberArguments(argc, argv);
  return tandem::app::RunCommandLine(argc, argv);
}
