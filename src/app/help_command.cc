// `tandem help [COMMAND]`: the same as `tandem [COMMAND] --help`, or its manual page.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "app/cli.h"
#include "app/command.h"
#include "app/flags.h"
#include "app/man_page.h"
#include "base/error.h"

namespace tandem::app {
namespace {

struct HelpOptions {
  std::string command;
  std::string format = "text";
};

void PrintManPage(const std::string& name) {
  const CommandDescription program = DescribeProgram();
  std::string page = ProgramManPage(program);
  for (const CommandDescription& command : program.commands) {
    if (command.ShortName() == name) page = CommandManPage(command);
  }
  std::fputs(page.c_str(), stdout);
}

void Help(const HelpOptions& options) {
  const std::string& command = options.command;
  if (!command.empty() && config::FindEntry(Commands(), command) == nullptr) {
    throw UsageError("command " + config::UnknownName(command, config::EntryNames(Commands())));
  }
  if (options.format == "man") {
    PrintManPage(command);
    return;
  }
  std::vector<const char*> arguments = {"tandem"};
  if (!command.empty()) arguments.push_back(command.c_str());
  arguments.push_back("--help");
  RunCommandLine(static_cast<int>(arguments.size()), arguments.data());
}

std::function<void()> Configure(Flags& flags) {
  const auto options = std::make_shared<HelpOptions>();
  flags.Add("command", options->command, "The command; without it, all commands").Takes("COMMAND");
  flags
      .Add("--format", options->format,
           "text, or man: the source of a manual page (tandem help train --format man | man -l -)")
      .OneOf({"text", "man"})
      .ShowDefault();
  return [options] { Help(*options); };
}

}  // namespace

extern const Command kHelpCommand{{.name = "help", .summary = "Print the help of a command"},
                                  Configure};

}  // namespace tandem::app
