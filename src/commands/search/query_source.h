// Gives the queries of a search in an index, some at a time: in constant memory, and also from a
// person or a program that waits for the answers to one query before it writes the next.
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
  // Returns up to `most` more queries, at least one; none at the end.
  virtual std::vector<SearchQuery> Next(size_t most) = 0;
};

// Gives these texts as queries, whose ids are q1, q2, ...
std::unique_ptr<QuerySource> QueriesOfTexts(std::vector<std::string> texts);

// Gives the queries of a file, a pattern or standard input ("-"), as data/input/text_input.h reads
// them. Throws DataError, also for an id that occurs twice and, if `for_run` says that ids become
// those of a TREC run, for one that has blanks.
std::unique_ptr<QuerySource> QueriesOfFile(const std::string& file, bool for_run);

// Gives the lines of an open file as queries; the id of line N is qN. Blank lines are no queries.
// Returns the lines that have arrived without waiting for more. Throws DataError for a line of more
// than 1 MiB. If `prompt` is not empty, it is written to standard error before each wait.
std::unique_ptr<QuerySource> QueriesOfLines(int descriptor, std::string prompt = "");

}  // namespace tandem::app
