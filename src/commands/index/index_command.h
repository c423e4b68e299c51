// `tandem index`: makes and changes indexes of documents, which are folders.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/globals.h"
#include "commands/index/index_flags.h"
#include "commands/model/model_flags.h"
#include "commands/text_input_flags.h"

namespace tandem::app {

struct IndexBuildCommandOptions {
  Globals globals;
  ModelFlags model;
  std::vector<std::string> documents;  // files, folders, patterns
  TextInputFlags input;
  std::string output;            // the index
  std::string kind;              // "": chosen by recall and memory
  std::vector<std::string> set;  // "m=32": parameters of the kind
  std::optional<double> recall;
  std::string memory = "2GiB";
  std::string embeddings;  // folder of the documents' embeddings in parts; "": they are encoded
  std::optional<double> min_probability;  // of hits of later searches; none: they show all
  bool no_texts = false;
  bool with_model = false;
  bool replace = false;
  bool no_cache = false;
};

struct IndexAddCommandOptions {
  Globals globals;
  std::string index;
  std::string model;                   // folder, if the index's model has moved
  std::vector<std::string> documents;  // files, folders, patterns
  TextInputFlags input;
  std::string memory = "2GiB";
  bool update = false;
  bool no_cache = false;
};

struct IndexCompactCommandOptions {
  Globals globals;
  std::string index;
  std::string memory = "2GiB";
};

// Do the work, in index_run.cc. Need tensors.
void RunIndexBuild(const IndexBuildCommandOptions& options);
void RunIndexAdd(const IndexAddCommandOptions& options);
void RunIndexCompact(const IndexCompactCommandOptions& options);

}  // namespace tandem::app
