// Says how a model folder wants texts lower-cased and cut on their way to token ids.
//
// Several files of a folder speak about this and contradict each other. This is the one reader of
// them: training, `encode`, `search`, `evaluate` and `tokenize` all go by it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "weights/folders/model_files.h"

namespace tandem::weights {

struct TandemFile;

// Says how many tokens a text may have, special tokens counted, and which file said so.
struct TokenLimit {
  size_t tokens = 0;   // 0: no file sets a limit
  std::string source;  // "sentence_bert_config.json", ...; for messages
};

struct TokenizerSettings {
  // The folder of the tokenizer's files: the model folder, or the folder below it that modules.json
  // names. Give this one to text::LoadTokenizer.
  std::filesystem::path folder;
  ModelFiles files;
  // The first of these that is set: `max_seq_length` of sentence_bert_config.json,
  // `model_max_length` of tokenizer_config.json (or `max_len`, its older name), what the encoder of
  // config.json can read (its default length, where it has one, as T5 does). Never more than that
  // encoder can read: RoBERTa's position table has two rows more than a text may have tokens. For
  // an architecture that is not known, `max_position_embeddings` counts.
  TokenLimit max_tokens;
  // `query_length` and `document_length` of sentence_bert_config.json, which texts of a kind go by
  // in place of max_tokens; never more than the encoder can read. Unset if the file has none.
  std::optional<size_t> max_query_tokens, max_document_tokens;
  // `do_lower_case` of sentence_bert_config.json: texts are lower-cased before the tokenizer's own
  // normalizer, as sentence-transformers does, also where that one keeps upper case.
  bool lower_case = false;

  // Returns the files that text::LoadTokenizer takes besides `folder` (text/load/known_files.h).
  std::function<const Json*(const std::filesystem::path&)> KnownFiles() const {
    return [files = files](const std::filesystem::path& path) { return files.Find(path); };
  }
};

// Reads them from a folder of one encoder, or from a folder that holds no more than a tokenizer. A
// plain Hugging Face folder (config.json, no modules.json) has no sentence_bert_config.json for
// sentence-transformers, nor here; in any other folder it may have the names that older releases
// gave it ("sentence_roberta_config.json", ...). Throws ModelError where there is no folder, for a
// file that is broken (config.json of a known architecture included), a value of a wrong type or
// out of range, a `transformer_task` other than "feature-extraction" and "sequence-classification",
// and `processing_kwargs` that change the tokenizer's calls.
TokenizerSettings ReadTokenizerSettings(const ModelFiles& files);

// Puts the lengths that `from`, the folder of a PEFT adapter, says into `base` and `file`, cut to
// what the encoder of `base` can read. A folder that lists modules, as sentence-transformers writes
// it, says them as a model folder does; another one, as PEFT alone writes it, changes nothing.
// Throws ModelError.
void TakeLengths(const ModelFiles& from, TokenizerSettings* base, TandemFile* file);

// ReadTokenizerSettings from the folder of a Transformer module.
TokenizerSettings ReadTokenizerOfModule(const ModelFiles& transformer);

}  // namespace tandem::weights
