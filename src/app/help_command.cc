// `tandem help [COMMAND]`: the same as `tandem [COMMAND] --help`.
#include <memory>
#include <string>
#include <vector>

#include "app/cli.h"
#include "app/command.h"
#include "app/flags.h"
#include "base/error.h"

namespace tandem::app {
namespace {

void Help(const std::string& command) {
  if (!command.empty() && config::FindEntry(Commands(), command) == nullptr) {
    throw UsageError("command " + config::UnknownName(command, config::EntryNames(Commands())));
  }
  std::vector<const char*> arguments = {"tandem"};
  if (!command.empty()) arguments.push_back(command.c_str());
  arguments.push_back("--help");
  RunCommandLine(static_cast<int>(arguments.size()), arguments.data());
}

std::function<void()> Configure(Flags& flags) {
  const auto command = std::make_shared<std::string>();
  flags.Add("command", *command, "The command; without it, all commands");
  return [command] { Help(*command); };
}

}  // namespace

extern const Command kHelpCommand{{.name = "help", .summary = "Print the help of a command"},
                                  Configure};

}  // namespace tandem::app
