// The tokens that transformers adds to a tokenizer of a folder, and those around its texts. Only
// source files of this room include it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "text/added_vocabulary.h"
#include "text/classes/class_parts.h"
#include "text/load/tokenizer_arguments.h"
#include "text/post_processors/post_processor.h"

namespace tandem::text {

// The class that reads a folder, and what the folder's files tell it.
struct FolderClass {
  ChosenClass chosen;
  TokenizerArguments arguments;
  bool of_model = false;  // the folder has a model's config.json as well
};

// Adds to `vocabulary`, which has the tokens `of_file` of tokenizer.json where the class takes that
// file as it is. `padding`: the name that tokenizer.json's padding has. Returns those that changed
// anything. Source: TokenizersBackend.__init__ of transformers 5.24.
std::vector<AddedToken> AddTokensOf(const TokenizerArguments& arguments, const ClassParts& parts,
                                    std::span<const AddedToken> of_file,
                                    const std::optional<std::string>& padding,
                                    AddedVocabulary* vocabulary);

// Throws ModelError naming `file` where the model does not have the tokens of `frame`.
void NeedInModel(const ClassFrame& frame, const SubwordModel& model, const std::string& file);

// The tokens of `frame`, which is not kOfFile. Throws ModelError naming `file` for a token without
// an id.
SpecialTokens TokensAround(const ClassFrame& frame, const AddedVocabulary& vocabulary,
                           const std::string& file);

// Says whether texts are cut at their beginning: `truncation_side` of the files, or else `of_json`,
// truncation.direction of tokenizer.json.
bool CutsLeft(const TokenizerArguments& arguments, bool of_json);

// Says whether the encoder is given token types of pairs. Otherwise they are all 0.
bool GivesTokenTypes(const FolderClass& folder);

}  // namespace tandem::text
