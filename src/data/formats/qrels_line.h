// The lines of judgement files; internal to the readers of qrels.
#pragma once

#include <cstddef>
#include <string_view>

#include "data/formats/qrels_file.h"
#include "data/input/line_reader.h"

namespace tandem::data {

// trec_qrels.cc: `query iteration document grade`. Throws DataError.
QrelsLine ParseTrecQrelsLine(const LineReader& reader, std::string_view line);

// qrels_columns.cc: the columns of a file, as its first line shows them. A line of exactly three
// tab-separated fields is BEIR's; a header's names say which column is which. Throws DataError for
// a header whose names are not known, and for commas without a header.
QrelsColumns FindQrelsColumns(LineReader& reader, std::string_view first_line);
// A line of a file that has `columns` and is not in TREC's format. Throws DataError.
QrelsLine ParseQrelsColumns(const LineReader& reader, const QrelsColumns& columns,
                            std::string_view line);

// The grade of either format. Throws DataError.
double ParseGrade(const LineReader& reader, std::string_view field, std::string_view query);

}  // namespace tandem::data
