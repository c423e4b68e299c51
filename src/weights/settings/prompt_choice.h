// Choosing a prompt on the command line: by its name, or as a text.
#pragma once

#include <string>
#include <string_view>

#include "weights/folders/model_folder.h"

namespace tandem::weights {

// The prompt that `choice` stands for: that of the folder's prompts which has this name, else
// `choice` as a text, in which \n, \t and \\ stand for a line break, a tab and a backslash. Throws
// UsageError with the known names for a single word of letters, digits, - and _ that is no name: a
// prompt that is put before texts ends in something else, and a misspelt name must not become one.
std::string ChoosePrompt(const ModelFolder& folder, std::string_view choice);

// The prompt on one line, as ChoosePrompt reads it back.
std::string PromptOnOneLine(std::string_view prompt);

}  // namespace tandem::weights
