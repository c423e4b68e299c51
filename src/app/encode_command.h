// `tandem encode`: texts to embeddings.
#pragma once

#include <string>

#include "app/model_flags.h"

namespace tandem::app {

struct EncodeCommandOptions {
  ModelFlags model;
  std::string input;              // JSONL file, or "-"
  std::string output;             // folder
  std::string kind = "document";  // or "query"
};

// The work, in encode_run.cc. Needs tensors.
void RunEncode(const EncodeCommandOptions& options);

}  // namespace tandem::app
