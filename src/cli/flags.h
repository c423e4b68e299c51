// The flags of one command, bound to the variables that they set.
//
//   flags.Add("--format", options.format, "text, tsv or json")
//       .OneOf({"text", "tsv", "json"})
//       .ShowDefault();
//
// A thin layer over CLI11, whose header takes seconds to compile: only the sources of the command
// line itself (cli, flags, help_text, usage_message) include it. What a user gets wrong is a usage
// error (exit 2) before the command runs; cli.cc reports it. Values are read and checked in
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

// One flag or argument of a command: what may stand there, and what its help says. Flags::Add makes
// it; copies mean the same flag.
class Flag {
 public:
  explicit Flag(CLI::Option* option) : option_(option) {}

  // Leaving it out is an error.
  Flag Required();
  // Any other word is an error; `words` are case-sensitive and stand in the help.
  Flag OneOf(std::initializer_list<std::string_view> words);
  // An integer outside [lowest, highest] is an error, and so is a word that is no integer; the
  // bounds stand in the help (the upper one only below 10^9).
  Flag Between(int64_t lowest, int64_t highest);
  // The value is a folder: "-", standard input or output elsewhere, is an error that says why
  // (`what_it_holds`, such as "embeddings are several files").
  Flag Folder(std::string_view what_it_holds);
  // Help shows `what` for its value, "MEASURES", by which shells know what to offer
  // (commands/completion/completion.h).
  Flag Takes(std::string_view what);
  // Giving it together with `other` is an error, in either order.
  Flag Excludes(Flag other);
  // Each time it is given, it takes one value; what follows is the next argument. (Otherwise a flag
  // for several values takes all words up to the next flag.)
  Flag OneValueEachTime();
  // Help shows what the variable holds now.
  Flag ShowDefault();
  // Help shows `text` as the default.
  Flag ShowDefault(std::string_view text);

 private:
  CLI::Option* option_;
};

// What a command adds its flags to. The variables must live until the command runs; those of flags
// that are not given keep their values.
class Flags {
 public:
  explicit Flags(CLI::App& app) : app_(app) {}

  // "--name": a flag with a value; "name": a positional argument. A value that cannot be read as
  // the variable's type is an error. So is a flag that is given twice, unless the variable is a
  // vector, which collects all values.
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
  // A flag without a value, "--name" or "-n,--name": true where it is given, however often.
  Flag AddSwitch(std::string_view name, bool& value, std::string_view help);

  // Printed after the flags in the command's help.
  void SetFooter(std::string_view text);

 private:
  CLI::App& app_;
};

}  // namespace tandem::app
