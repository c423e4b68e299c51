// What a shell offers while a command line of tandem is typed, as scripts for three shells.
//
// Commands, flags, and words of flags come from the descriptions of the help; names of catalogues
// stand in the scripts, so that completing starts no program.
#pragma once

#include <string>
#include <vector>

#include "cli/help/command_description.h"

namespace tandem::app {

// Printed for `eval "$(tandem completion bash)"`, or put where the shell finds it.
std::string BashCompletion(const CommandDescription& program);
std::string ZshCompletion(const CommandDescription& program);
std::string FishCompletion(const CommandDescription& program);

// What may stand for the value of a flag or argument.
struct ValueCompletion {
  enum class Kind {
    kNothing,  // numbers
    kWords,
    kList,  // words with commas between them
    kKeys,  // words, after which something must be typed: "train.batch="
    kFiles,
    kFolders,
  };
  Kind kind = Kind::kFiles;
  std::vector<std::string> words;
};

// By what the help shows for the value: "text|json" are words, INT and NUMBER numbers, FOLDER
// and MODEL|INDEX a folder, the name of a catalogue's entry in capitals (COMMAND) those entries,
// its plural (MEASURES) a list of them; CATALOGUE, NAME and KEY=VALUE are what `tandem list`,
// `tandem explain` and recipes know. Everything else may be a file.
ValueCompletion CompletionOf(const FlagDescription& flag);

// CommandDescription::Route of all commands below `command`, each in double quotes.
std::vector<std::string> QuotedRoutes(const CommandDescription& command);

}  // namespace tandem::app
