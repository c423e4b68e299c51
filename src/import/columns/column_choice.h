// Which column of a source means what: what a user says, and what names and contents show.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/row_source.h"

namespace tandem::import_data {

// In place of a name that is chosen: there is no such column, whatever names look like.
inline constexpr std::string_view kNoColumn = "-";

// Names of columns, as the file spells them; "": there is none, or none was chosen.
struct Columns {
  std::string query;
  std::string document;
  std::vector<std::string> negatives;
  std::string label;
  std::string title;  // of the document
  std::string id;     // of the document
  std::string query_id;
  std::string group;  // rows that must not be torn apart by splits
  std::string clicks;
  std::string impressions;
  std::string position;  // at which the document was shown, from 1

  bool has_clicks() const { return !clicks.empty(); }
};

// A column of the first rows.
struct ColumnSample {
  std::string name;
  uint64_t rows = 0;     // with a value that is not empty
  uint64_t numbers = 0;  // of them, with a number
  uint64_t others = 0;   // of them, with an object or another list
  uint64_t bytes = 0;    // of texts
  uint64_t files = 0;    // texts that name a file or an address, as "guide.md" does
  uint64_t ids = 0;      // texts of one word with a digit, as "doc17"
  uint64_t ups = 0;      // of the rows, with true, yes or another thumb that is up
  uint64_t downs = 0;    // with one that is down
  uint64_t distinct = 0;
  std::string example;  // the first value that is not empty
};

struct SourceSample {
  static constexpr uint64_t kRows = 200;

  uint64_t rows = 0;                  // that were looked at, without those with a problem
  std::vector<ColumnSample> columns;  // in the order in which they came
  // The values of the first row, for a second line of names.
  std::vector<std::string> first_row;
  int64_t first_line = 0;
  // The first row with a problem: "3: has 1 field where there are 2 columns"; "": there is none.
  std::string first_problem;
};

// Looks at the first rows of a source.
SourceSample SampleSource(RowSource& source);

struct Understood {
  Columns columns;
  // A phrase for each column that was found, in a fixed order: "query: \"Frage\" (its texts are the
  // shorter ones)".
  std::vector<std::string> reasons;
};

// The role that a column's name alone gives it: "query", "document", "negative", "label", "title",
// "id", "query_id", "clicks", "impressions", "position"; "": none. `exact`: whether it is a name of
// a training line's key.
std::string_view RoleOfName(std::string_view name, bool* exact = nullptr);

// Finds the columns of a source of which `sample` is the start: those that are chosen, then those
// whose names are those of training lines (data/lines/column_names.h), then other names for the
// same, then, where query or document is missing, by contents: two columns of texts are left, and
// the shorter texts are the queries. Positions and impressions are only looked for beside clicks,
// and labels where there are none.
//
// Throws UsageError naming `file` and the flag that decides: for a chosen column that is not there,
// for two columns with names of the same role, where no query or no document is found, where the
// first line seems to be no line of names and the second one does, and for clicks without
// impressions.
Understood FindColumns(const SourceSample& sample, const Columns& chosen, std::string_view file);

}  // namespace tandem::import_data
