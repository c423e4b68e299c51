// Rows to examples: the texts of a query and of its documents, and what the row says of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/columns/column_choice.h"
#include "import/grades/labels.h"
#include "import/row_source.h"

namespace tandem::import_data {

struct ExampleDocument {
  std::string_view title;  // "": none
  std::string_view text;
  std::string_view id;  // "": by its text
  bool is_negative = false;
};

// Views are valid until the next row.
struct Example {
  std::string_view query;
  std::string_view query_id;  // "": by its text
  std::string_view group;     // "": none
  std::vector<ExampleDocument> documents;
  double grade = 1;  // of those that are not negatives
  // Of a click table, in place of the grade.
  double clicks = 0;
  double impressions = 0;
  std::optional<double> position;
  uint64_t empty_negatives = 0;  // that were passed over
};

class ExampleReader {
 public:
  // `labels` must outlive the reader.
  ExampleReader(Columns columns, Labels& labels) : columns_(std::move(columns)), labels_(labels) {}

  // Fills `example` from the row, or sets the row's problem. Refused are rows without text of the
  // query or the document, with values of another type, with ids that a BEIR folder cannot hold,
  // without a grade where there is a column of labels, and with counts that are none.
  bool Read(Row& row, Example* example);

 private:
  const data::JsonField* Cell(const Row& row, std::string_view name) const;
  bool Text(Row& row, std::string_view name, std::string_view* text);
  bool Documents(Row& row, Example* example);
  bool Negatives(Row& row, Example* example);
  bool Id(Row& row, std::string_view name, std::string_view* id);
  bool Number(Row& row, std::string_view name, std::optional<double>* number);
  bool Clicks(Row& row, Example* example);

  Columns columns_;
  Labels& labels_;
};

}  // namespace tandem::import_data
