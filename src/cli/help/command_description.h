// Describes a command's flags and arguments as data, from which its help, its manual page and shell
// completions are made.
#pragma once

#include <string>
#include <vector>

#include "cli/example.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tandem::app {

// A flag, or an argument, which has a position instead of a name.
struct FlagDescription {
  std::vector<std::string> names;  // "-q", "--quiet"; an argument has one name, "recipe"
  bool argument = false;
  bool required = false;
  bool repeated = false;  // takes several values
  std::string value;      // the value as its help shows it: "TEXT", "text|json"; "" for a switch
  std::string text;       // help text, with default and "(required)"

  // Returns "-q, --quiet" or "--format text|json"; for an argument, the word that stands for it:
  // "RECIPE", or its value if that says more, "MODEL|INDEX".
  std::string Synopsis() const;
};

struct CommandDescription {
  std::string name;  // as it is typed: "tandem", "tandem train"
  std::string summary;
  std::string footer;  // "": none
  std::vector<Example> examples;
  std::vector<FlagDescription> flags;        // in the order of its help; --help is last
  std::vector<CommandDescription> commands;  // its parts, in the order of its help

  // Returns the last word of the name: "train".
  std::string ShortName() const;
  // Returns the words that are typed after the program's name: " index build"; "" for the program
  // itself.
  std::string Route() const;
};

FlagDescription DescribeFlag(const CLI::Option& option);

// `name` is typed before the names of the app's own commands.
CommandDescription DescribeCommand(const CLI::App& app, const std::string& name);

}  // namespace tandem::app
