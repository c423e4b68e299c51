// `tandem help [COMMAND]`: prints the same as `tandem [COMMAND] --help`, or the manual page.
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/help/man_page.h"
#include "commands/commands.h"

namespace tandem::app {
namespace {

struct HelpOptions {
  std::vector<std::string> words;
  std::string format = "text";
};

// Prints a manual page. A page describes a command with its parts, so that for a part the page of
// the whole command is printed.
void PrintManPage(const std::vector<std::string>& words) {
  const CommandDescription program = DescribeProgram(Commands());
  std::string page = ProgramManPage(program);
  for (const CommandDescription& command : program.commands) {
    if (!words.empty() && command.ShortName() == words.front()) page = CommandManPage(command);
  }
  std::fputs(page.c_str(), stdout);
}

void Help(const HelpOptions& options) {
  std::vector<const char*> arguments = {"tandem"};
  CommandTable commands = Commands();
  for (const std::string& word : options.words) {
    const Command* command = config::FindEntry(commands, word);
    if (command == nullptr) {
      throw UsageError("command " + config::UnknownName(word, config::EntryNames(commands)));
    }
    arguments.push_back(word.c_str());
    commands = command->parts == nullptr ? CommandTable() : command->parts();
  }
  if (options.format == "man") {
    PrintManPage(options.words);
    return;
  }
  arguments.push_back("--help");
  RunCommandLine(Commands(), static_cast<int>(arguments.size()), arguments.data());
}

CommandBody ConfigureHelp(Flags& flags) {
  const auto options = std::make_shared<HelpOptions>();
  flags
      .Add("command", options->words,
           "The command, as `train` or `index build`; without it, all commands")
      .Takes("COMMAND");
  flags
      .Add("--format", options->format,
           "text, or man: the source of a manual page (tandem help train --format man | man -l -)")
      .OneOf({"text", "man"})
      .ShowDefault();
  return [options](const Globals&) { Help(*options); };
}

constexpr Example kHelpExamples[] = {
    {"tandem help index build", "Print the help of a command"},
    {"tandem help train --format man | man -l -", "Read it as a manual page"},
};

}  // namespace

extern const Command kHelpCommand{
    {.name = "help", .summary = "Print the help of a command"}, ConfigureHelp, kHelpExamples};

}  // namespace tandem::app
