// Chooses the class of transformers that reads a folder's tokenizer. Only this room includes it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "text/load/tokenizer_arguments.h"

namespace tandem::text {

// kFile takes tokenizer.json as it is. Each of the others takes its vocabulary alone, with its
// merges, and makes the other parts anew from its arguments (text/classes/class_parts.h).
enum class TokenizerClass {
  kFile,
  kAlbert,
  kBert,
  kCamembert,
  kDistilBert,
  kGemma,
  kGpt2,
  kLlama,
  kMpNet,
  kQwen2,
  kRoberta,
  kT5,
  kXlmRoberta,
};

struct ChosenClass {
  TokenizerClass kind = TokenizerClass::kFile;
  std::string name;  // transformers' name, for messages
};

// Goes by `tokenizer_class` of tokenizer_config.json or config.json, and `model_type` of
// config.json, as AutoTokenizer of transformers 5.24 decides. A name that transformers does not
// know is kFile; throws ModelError for one that it knows and Tandem does not follow. `byte_level`
// says whether tokenizer.json has a component "ByteLevel".
ChosenClass ChooseClass(const std::filesystem::path& folder, const TokenizerArguments& arguments,
                        bool byte_level, const KnownFiles& known = {});

}  // namespace tandem::text
