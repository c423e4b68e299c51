// `tandem search`: finds the best documents for queries, in an index or in the corpus of a data
// set. It searches for free text, for the queries of a file, and for the judged queries of a data
// set or the lines of standard input.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/globals.h"
#include "commands/model/model_flags.h"

namespace tandem::app {

struct SearchOptions {
  Globals globals;
  std::string index;  // folder; "": `dataset` is searched with `model`
  ModelFlags model;   // its folder "": the folder that the index names
  std::string dataset;
  std::string split;                  // "" if not given: test
  std::string queries_file;           // "": none
  std::vector<std::string> queries;   // free text
  bool lines = false;                 // whether each line of standard input is a query
  size_t top_k = 0;                   // 0 if not given
  bool by_document = false;           // hits are documents, by their best passages
  bool ignore_identical_ids = false;  // leaves out hits with the id of their query
  std::optional<double> min_score;    // hits below it are left out
  std::optional<double> min_probability;
  std::string keep;  // a promise of tandem.json, whose threshold hits reach; "": none
  std::vector<std::string> filters;  // for an index: conditions such as "year>=2020"
  bool highlight = false;            // for an index: show the best passage of each hit
  size_t effort = 0;                 // for an index: index::VectorQuery::effort
  std::string output;                // file for the hits; "-": standard output
  std::string embeddings;            // folder that keeps the corpus's embeddings; "": none
  bool no_cache = false;             // of the corpus of --dataset
  std::string format;                // of the hits; "" if not given
};

// Describes the conditions for hits to a person: "year>=2020 and a score of at least 0.5"; "" if
// there are none.
std::string WhatIsAsked(const SearchOptions& options);

// Do the work, in search_run.cc and search_index_run.cc. Need tensors.
void RunSearch(const SearchOptions& options);
void RunIndexSearch(const SearchOptions& options);

}  // namespace tandem::app
