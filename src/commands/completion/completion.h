// Writes the scripts by which three shells complete a command line of tandem.
#pragma once

#include <string>
#include <vector>

#include "cli/help/command_description.h"

namespace tandem::app {

// Return scripts for `eval "$(tandem completion bash)"`, or for a file where the shell looks for
// them.
std::string BashCompletion(const CommandDescription& program);
std::string ZshCompletion(const CommandDescription& program);
std::string FishCompletion(const CommandDescription& program);

// The words that a shell offers for the value of a flag or argument.
struct ValueCompletion {
  enum class Kind {
    kNothing,  // numbers
    kWords,
    kList,  // words with commas between them
    kKeys,  // words after which the user continues, as "train.batch="
    kFiles,
    kFolders,
  };
  Kind kind = Kind::kFiles;
  std::vector<std::string> words;
};

// Decides by the help's placeholder for the value. "text|json" are words; INT and NUMBER are
// numbers; FOLDER and MODEL|INDEX are a folder; the name of a catalogue's entry in capitals
// (COMMAND) stands for those entries, and its plural (MEASURES) for a list of them; CATALOGUE, NAME
// and KEY=VALUE are names of `tandem list`, of `tandem explain` and of recipes. Everything else may
// be a file.
ValueCompletion CompletionOf(const FlagDescription& flag);

// Returns CommandDescription::Route of all commands below `command`, each in double quotes.
std::vector<std::string> QuotedRoutes(const CommandDescription& command);

}  // namespace tandem::app
