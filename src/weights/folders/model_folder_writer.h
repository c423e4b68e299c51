// Writing a sentence-transformers folder (the layout before release 5.4, which every release and
// text-embeddings-inference and llama.cpp's converter read).
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "weights/folders/model_card.h"
#include "weights/folders/model_folder.h"
#include "weights/safetensors/safetensors_writer.h"

namespace tandem::weights {

// The differences from the folder that was read; everything else is carried through.
struct FolderChanges {
  // New values, by name: the name of the tensor in the source's weights
  // (EncoderTensor::view->name), for a module after the encoder with its folder in front:
  // "2_Dense/linear.weight". Shapes must be the source's; a module that has no files yet
  // (ModuleSource) must be given all it has. Where the encoder's type changes, config.json's
  // "dtype" / "torch_dtype" is changed too.
  std::vector<TensorToWrite> tensors;
  std::optional<size_t> max_tokens;  // max_seq_length, which is one for texts of both kinds
  // The lengths at which texts of each kind are cut, for the card; none: max_tokens.
  std::optional<size_t> max_query_tokens;
  std::optional<size_t> max_document_tokens;
  std::optional<std::string> query_prompt;
  std::optional<std::string> document_prompt;
  std::optional<Similarity> similarity;
  std::map<std::string, std::string> task_prompts;   // by name, beside the source's and over them
  std::optional<int64_t> truncate_dim;               // 0: none
  std::map<std::string, std::string> further_files;  // name in the folder -> bytes ("tandem.json")
};

// Checks that a model which comes from `source` may be written to `path`: nothing is there, an
// empty folder, or a model folder that does not hold the source. Throws OutputError for a file, and
// UsageError for anything else.
void CheckModelTarget(const ModelFolder& source, const std::filesystem::path& path);

// Writes `path` complete or not at all: into a folder beside it, flushed to the disk, then put in
// its place in one step. An existing model folder (or empty folder) is replaced; anything else
// there is kept and a UsageError. config.json and the tokenizer's files are copied byte for byte,
// tensors that nothing replaces keep their bytes, licence files are copied. Throws ModelError for a
// replacement that fits no tensor or that a module lacks; otherwise as CheckModelTarget.
void WriteModelFolder(const ModelFolder& source, const FolderChanges& changes,
                      const ModelCard& card, const std::filesystem::path& path);

// Writes what an adapter's folder says of the whole model into the folder `path`, which exists:
// modules.json and the folders of what follows the source's encoder, prompts, similarity and
// truncate_dim (config_sentence_transformers.json) and lengths (sentence_bert_config.json, which
// tells those of queries and documents apart by query_length and document_length). `changes` holds
// new values of Dense modules alone. Throws as WriteModelFolder.
void WriteModulesAndSettings(const ModelFolder& source, const FolderChanges& changes,
                             const std::filesystem::path& path);

}  // namespace tandem::weights
