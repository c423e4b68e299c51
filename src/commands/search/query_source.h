// The queries of a search in an index, some at a time: in constant memory, and from a person or a
// program that waits for the answers to one before it writes the next.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace tandem::app {

struct SearchQuery {
  std::string id;
  std::string text;
};

class QuerySource {
 public:
  virtual ~QuerySource() = default;
  // Up to `most` further queries, and one at least; none at the end.
  virtual std::vector<SearchQuery> Next(size_t most) = 0;
};

// Texts, whose ids are q1, q2, ...
std::unique_ptr<QuerySource> QueriesOfTexts(std::vector<std::string> texts);

// The queries of a file, a pattern or standard input ("-"), as data/input/text_input.h reads them.
// Throws DataError, also for an id that comes twice and, where `for_run` says that ids become those
// of a TREC run, for one that has blanks.
std::unique_ptr<QuerySource> QueriesOfFile(const std::string& file, bool for_run);

// The lines of an open file; the id of line N is qN. Blank lines are no queries. Hands out what is
// there without waiting for more. Throws DataError for a line of more than 1 MiB. `prompt`, where
// it is not empty, is written on standard error before each wait.
std::unique_ptr<QuerySource> QueriesOfLines(int descriptor, std::string prompt = "");

}  // namespace tandem::app
