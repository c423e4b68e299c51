// `tandem search`: the best documents of a corpus for the judged queries of a data set, for those
// of a file, or for free text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/model_flags.h"

namespace tandem::app {

struct SearchOptions {
  ModelFlags model;
  std::string dataset;
  std::string split;                 // "" where not given: test
  std::string queries_file;          // JSON lines, judged or not; "": none
  std::vector<std::string> queries;  // free text; empty: the file's, else the split's
  size_t top_k = 0;                  // 0 where not given: 100, or 10 for free text
  std::optional<double> min_score;   // hits below it are left out
  std::optional<double> min_probability;
  std::string output;           // TREC run; "-": standard output
  std::string embeddings;       // folder that keeps the corpus's vectors; "": none
  std::string format = "text";  // of the hits for free text
};

// The work, in search_run.cc. Needs tensors.
void RunSearch(const SearchOptions& options);

}  // namespace tandem::app
