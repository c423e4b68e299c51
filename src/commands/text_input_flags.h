// The flags of commands that read texts from many files (data/input/text_input.h).
#pragma once

#include <string>
#include <vector>

#include "data/input/text_input.h"

namespace tandem::app {

class Flags;  // cli/flags.h

struct TextInputFlags {
  std::string format = "auto";
  std::string id_field = "_id";
  std::string text_field = "text";
  std::vector<std::string> fields;  // as ParseMetadataFields takes them
};

// Adds --format, --id-field and --text-field; the files are the command's own argument.
void AddTextInputFlags(Flags& flags, TextInputFlags& input);

// Adds --field, for commands that keep metadata.
void AddFieldFlag(Flags& flags, TextInputFlags& input);

// Returns the options that the flags give for the texts in `inputs`. Throws UsageError for a field
// of another type.
data::TextInputOptions TextInputOptionsOf(const TextInputFlags& flags,
                                          std::vector<std::string> inputs, data::TextRole role);

}  // namespace tandem::app
