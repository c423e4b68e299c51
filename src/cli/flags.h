// The flags of one command, bound to the variables that they set.
//
//   flags.Add("--format", options.format, "text, tsv or json")
//       .OneOf({"text", "tsv", "json"})
//       .ShowDefault();
//
// A thin layer over CLI11, whose header takes seconds to compile: only the sources of the command
// line itself (cli, flags, help_text, usage_message) include it. A mistake of the user is a usage
// error (exit code 2) before the command runs; cli.cc reports it. Values are read and checked in
// flags.cc, so that messages and help are the same with every version of CLI11.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tandem::app {

// One flag or argument of a command: the values that it accepts, and its help. Flags::Add makes it;
// copies refer to the same flag.
class Flag {
 public:
  explicit Flag(CLI::Option* option) : option_(option) {}

  // Leaving it out is an error.
  Flag Required();
  // Any other word is an error; `words` are case-sensitive and shown in the help.
  Flag OneOf(std::initializer_list<std::string_view> words);
  // An integer outside [lowest, highest] is an error, and so is a word that is no integer. The help
  // shows the bounds (the upper one only if it is below 10^9).
  Flag Between(int64_t lowest, int64_t highest);
  // The value is a folder. "-", which means standard input or output for other flags, is an error
  // with the reason `what_it_holds` (such as "embeddings are several files").
  Flag Folder(std::string_view what_it_holds);
  // The help shows `what` for the value, such as "MEASURES". Completion in shells depends on it
  // (commands/completion/completion.h).
  Flag Takes(std::string_view what);
  // Giving it together with `other` is an error, in either order.
  Flag Excludes(Flag other);
  // Each time the flag is given, it takes one value, and the next word is the next argument.
  // (Otherwise a flag for several values takes all words up to the next flag.)
  Flag OneValueEachTime();
  // The help shows the variable's present value as the default.
  Flag ShowDefault();
  // The help shows `text` as the default.
  Flag ShowDefault(std::string_view text);

 private:
  CLI::Option* option_;
};

// The flags of a command, which it adds itself. The variables must live until the command runs;
// variables of flags that are not given keep their values.
class Flags {
 public:
  explicit Flags(CLI::App& app) : app_(app) {}

  // Adds "--name", a flag with a value, or "name", a positional argument. A value that cannot be
  // read as the variable's type is an error. So is a flag that is given twice, unless the variable
  // is a vector, which collects all values.
  Flag Add(std::string_view name, std::string& value, std::string_view help);
  Flag Add(std::string_view name, std::vector<std::string>& values, std::string_view help);
  Flag Add(std::string_view name, int& value, std::string_view help);
  Flag Add(std::string_view name, int64_t& value, std::string_view help);
  Flag Add(std::string_view name, size_t& value, std::string_view help);
  Flag Add(std::string_view name, double& value, std::string_view help);
  Flag Add(std::string_view name, std::optional<int64_t>& value, std::string_view help);
  Flag Add(std::string_view name, std::optional<size_t>& value, std::string_view help);
  Flag Add(std::string_view name, std::optional<double>& value, std::string_view help);
  Flag Add(std::string_view name, std::optional<std::string>& value, std::string_view help);
  // Adds a flag without a value, "--name" or "-n,--name"; the variable is true if it is given, once
  // or several times.
  Flag AddSwitch(std::string_view name, bool& value, std::string_view help);

  // Sets the text that the command's help prints after the flags.
  void SetFooter(std::string_view text);

 private:
  CLI::App& app_;
};

}  // namespace tandem::app
