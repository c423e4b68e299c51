// `tandem help [COMMAND]`: the same as `tandem [COMMAND] --help`.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/cli.h"
#include "app/command.h"
#include "app/flags.h"
#include "base/error.h"

namespace tandem::app {
namespace {

void Help(const std::vector<std::string>& words) {
  std::vector<const char*> arguments = {"tandem"};
  std::span<const Command* const> commands = Commands();
  for (const std::string& word : words) {
    const Command* command = config::FindEntry(commands, word);
    if (command == nullptr) {
      throw UsageError("command " + config::UnknownName(word, config::EntryNames(commands)));
    }
    arguments.push_back(word.c_str());
    commands = command->parts == nullptr ? std::span<const Command* const>() : command->parts();
  }
  arguments.push_back("--help");
  RunCommandLine(static_cast<int>(arguments.size()), arguments.data());
}

std::function<void()> Configure(Flags& flags) {
  const auto words = std::make_shared<std::vector<std::string>>();
  flags.Add("command", *words,
            "The command, as `train` or `index build`; without it, all commands");
  return [words] { Help(*words); };
}

}  // namespace

extern const Command kHelpCommand{{.name = "help", .summary = "Print the help of a command"},
                                  Configure};

}  // namespace tandem::app
