// The parts that transformers' classes make from a tokenizer's vocabulary and their arguments. Only
// source files of this room include it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/classes/tokenizer_class.h"
#include "text/load/tokenizer_arguments.h"
#include "text/post_processors/post_processor.h"

namespace tandem::text {

// The parts of tokenizer.json that a class needs besides vocabulary and merges.
struct FileParts {
  std::string_view model_type;  // "WordPiece", ...
  // `precompiled_charsmap` of its normalizer, in base64; empty where it has none.
  std::string_view character_map;
  // Finds the place of a token in a list of pieces with scores; 0 where it is not there.
  std::function<int64_t(const std::string&)> place_of;
};

// Says which special tokens stand around texts.
struct ClassFrame {
  // kOfFile: as tokenizer.json's post_processor says. kAround: first TEXT last. kAroundDoubled: the
  // same, and pairs have `last` twice between the texts. kBehind: TEXT last.
  enum class Kind { kOfFile, kAround, kAroundDoubled, kBehind };
  Kind kind = Kind::kOfFile;
  std::string first, last;
};

// Components as tokenizer.json spells them, in place of the file's; "null" for none.
struct ClassParts {
  std::string normalizer = "null";
  std::string pre_tokenizer;
  std::string model;      // its options, without vocabulary and merges
  std::string unk_token;  // of a WordPiece
  ClassFrame frame;
  // `frame` counts where tokenizer.json has no post_processor, and its tokens must be the model's.
  bool frame_of_file_first = false;
  // Tokens that the class names by itself, where the files do not name another.
  std::vector<std::pair<std::string, GivenToken>> named;
  std::optional<std::vector<GivenToken>> extra;  // where the files have no extra tokens
  bool mask_takes_space = false;  // the mask token, of which the files give the name alone
  bool readds_special = false;    // Qwen2's class adds all special tokens once more, by their names
};

// The parts of every class but kFile. Throws ModelError where the class does not fit the file, and
// for arguments that it does not take. Source: models/*/tokenization_*.py of transformers 5.24.
ClassParts PartsOf(const ChosenClass& chosen, const TokenizerArguments& arguments,
                   const FileParts& file);

}  // namespace tandem::text
