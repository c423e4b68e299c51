// `tandem completion bash|zsh|fish`: prints the script by which a shell completes command lines of
// tandem.
#include <cstdio>
#include <memory>
#include <string>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "commands/commands.h"
#include "commands/completion/completion.h"

namespace tandem::app {
namespace {

void PrintCompletion(const std::string& shell) {
  const CommandDescription program = DescribeProgram(Commands());
  const std::string script = shell == "bash"  ? BashCompletion(program)
                             : shell == "zsh" ? ZshCompletion(program)
                                              : FishCompletion(program);
  std::fputs(script.c_str(), stdout);
}

CommandBody ConfigureCompletion(Flags& flags) {
  const auto shell = std::make_shared<std::string>();
  flags.Add("shell", *shell, "bash, zsh or fish").OneOf({"bash", "zsh", "fish"}).Required();
  flags.SetFooter("For this shell alone: eval \"$(tandem completion bash)\"");
  return [shell](const Globals&) { PrintCompletion(*shell); };
}

constexpr Example kCompletionExamples[] = {
    {"tandem completion bash > ~/.local/share/bash-completion/completions/tandem",
     "Complete in every bash from now on"},
    {"tandem completion fish > ~/.config/fish/completions/tandem.fish", "The same for fish"},
};

}  // namespace

extern const Command kCompletionCommand{
    {.name = "completion", .summary = "Print the script by which a shell completes tandem"},
    ConfigureCompletion,
    kCompletionExamples};

}  // namespace tandem::app
