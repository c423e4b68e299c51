// One line of each judgement format; internal to the readers of qrels.
#pragma once

#include <optional>
#include <string_view>

#include "data/line_reader.h"
#include "data/qrels_file.h"

namespace tandem::data {

// trec_qrels.cc: `query iteration document grade`. Throws DataError.
QrelsLine ParseTrecQrelsLine(const LineReader& reader, std::string_view line);

// beir_qrels.cc: whether the first line of a file is BEIR's (three tab-separated fields).
bool LooksLikeBeirQrels(std::string_view line);
// Whether the first line is the header `query-id corpus-id score`.
bool IsBeirQrelsHeader(std::string_view line);
// `query<TAB>document<TAB>grade`. Throws DataError.
QrelsLine ParseBeirQrelsLine(const LineReader& reader, std::string_view line);

// The grade of either format. Throws DataError.
double ParseGrade(const LineReader& reader, std::string_view field, std::string_view query);

}  // namespace tandem::data
