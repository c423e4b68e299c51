// The last steps of reading a tokenizer, whatever file it comes from. Only source files of this
// room include it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "text/load/folder_tokens.h"
#include "text/pipeline_tokenizer.h"

namespace tandem::text {

// The stages that the tokenizer's own file gives.
struct OwnStages {
  explicit OwnStages(const std::string& file) : vocabulary(file) {}

  std::unique_ptr<const Normalizer> normalizer;
  std::unique_ptr<const PreTokenizer> pre_tokenizer;
  std::unique_ptr<const SubwordModel> model;
  Vocabulary vocabulary;               // of the model and of `added`
  std::vector<AddedToken> added;       // tokens of the file, where its class takes them as they are
  SpecialTokens around;                // by the file's post-processor
  std::optional<std::string> padding;  // the name of the file's padding token
  bool cuts_left = false;
};

// Takes `own`, and adds what `folder`, where there is one, and its class's `parts` say.
// `vocabulary` is one of `own` and has the tokens `own->added`. Throws ModelError naming `file`.
TokenizerStages FinishStages(OwnStages* own, AddedVocabulary* vocabulary, const FolderClass* folder,
                             const ClassParts& parts, const TokenizerOptions& options,
                             const std::string& file);

}  // namespace tandem::text
