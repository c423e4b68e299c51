// `tandem search`: the best documents for queries, in an index or in the corpus of a data set. It
// searches for free text, for the queries of a file, and for the judged queries of a data set or
// the lines of standard input.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/globals.h"
#include "commands/model_flags.h"

namespace tandem::app {

struct SearchOptions {
  Globals globals;
  std::string index;  // folder; "": `dataset` is searched, with `model`
  ModelFlags model;   // its folder "": where the index says that it is
  std::string dataset;
  std::string split;                  // "" where not given: test
  std::string queries_file;           // "": none
  std::vector<std::string> queries;   // free text
  bool lines = false;                 // whether each line of standard input is a query
  size_t top_k = 0;                   // 0 where not given
  bool ignore_identical_ids = false;  // no hit has the id of its query
  std::optional<double> min_score;    // hits below it are left out
  std::optional<double> min_probability;
  std::vector<std::string> filters;  // of an index: conditions such as "year>=2020"
  bool highlight = false;            // of an index: the best passage of each hit
  size_t effort = 0;                 // of an index: index::VectorQuery::effort
  std::string output;                // file for the hits; "-": standard output
  std::string embeddings;            // folder that keeps the corpus's vectors; "": none
  std::string format;                // of the hits; "" where not given
};

// What hits must have, for a person: "year>=2020 and a score of at least 0.5"; "" for anything.
std::string WhatIsAsked(const SearchOptions& options);

// The work, in search_run.cc and search_index_run.cc. Needs tensors.
void RunSearch(const SearchOptions& options);
void RunIndexSearch(const SearchOptions& options);

}  // namespace tandem::app
