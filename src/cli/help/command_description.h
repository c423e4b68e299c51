// A command's flags and arguments as data: what its help, its manual page and shells' completions
// say.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tandem::app {

// A flag, or an argument, which has a place instead of a name.
struct FlagDescription {
  std::vector<std::string> names;  // "-q", "--quiet"; of an argument its one name, "recipe"
  bool argument = false;
  bool required = false;
  bool repeated = false;  // takes several values
  std::string value;      // what its help shows for a value: "TEXT", "text|json"; "" for a switch
  std::string text;       // with default and "(required)"

  // "-q, --quiet", "--format text|json"; of an argument what stands for it: "RECIPE", or the value
  // where it says more, "MODEL|INDEX".
  std::string Synopsis() const;
};

struct CommandDescription {
  std::string name;  // as it is typed: "tandem", "tandem train"
  std::string summary;
  std::string footer;                        // "" for none
  std::vector<FlagDescription> flags;        // in the order of its help; --help is last
  std::vector<CommandDescription> commands;  // its own, in the order of its help

  // "train": the last word of the name.
  std::string ShortName() const;
  // " index build": what is typed after the program's name; "" for the program.
  std::string Route() const;
};

FlagDescription DescribeFlag(const CLI::Option& option);

// `name` is what precedes the app's own commands.
CommandDescription DescribeCommand(const CLI::App& app, const std::string& name);

}  // namespace tandem::app
