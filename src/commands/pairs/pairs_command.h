// `tandem pairs`: makes a data set of documents alone, by pairs of a query and a text that their
// structure holds, or a corpus.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/globals.h"
#include "commands/model/model_flags.h"

namespace tandem::app {

struct PairsOptions {
  Globals globals;
  std::string documents;  // folder, file or corpus
  std::string output;     // BEIR folder; "" with dry_run
  bool dry_run = false;   // shows examples and counts, and writes nothing
  bool corpus_only = false;
  std::vector<std::string> sources;  // names; empty: all
  size_t per_document = 20;          // pairs; 0: all
  ModelFlags model;                  // whose tokens count, and which makes the round trip; "": none
  std::optional<size_t> passage_tokens;  // none: documents are not cut
  size_t passage_overlap = 0;
  std::optional<size_t> round_trip;  // depth; none: no round trip
  bool no_cache = false;
  std::string format = "text";  // of the counts and examples: text or json
};

// Do the work, in pairs_run.cc and corpus_output.cc. The options must have been checked.
void RunPairs(const PairsOptions& options);
void RunCorpusOnly(const PairsOptions& options);

}  // namespace tandem::app
