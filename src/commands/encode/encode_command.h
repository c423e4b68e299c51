// `tandem encode`: computes embeddings of texts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/globals.h"
#include "commands/model/model_flags.h"
#include "commands/text_input_flags.h"

namespace tandem::app {

struct EncodeCommandOptions {
  Globals globals;
  ModelFlags model;
  std::vector<std::string> inputs;  // files, folders, patterns, or "-"
  TextInputFlags texts;             // how they are read
  std::string output;               // folder, .npy file, or "-"
  std::string output_format;        // on standard output: jsonl, npy or raw
  std::string kind = "document";    // or "query"
  size_t block_texts = 4096;        // texts that are encoded and written together
  std::string shard;                // "3/16": one of several parts; "": the launcher decides
  bool resume = false;
  bool force = false;  // finished files are replaced
};

// Does the work, in encode_run.cc. Needs tensors.
void RunEncode(const EncodeCommandOptions& options);

}  // namespace tandem::app
