// Says whether two evaluations may be compared.
#pragma once

#include <string>
#include <string_view>

#include "report/records/evaluation_record.h"

namespace tandem::report {

// Says whether both were measured on the same queries and documents: the same name and split, as
// many of both, the same ids of queries and the same fingerprint where both records hold them (ids
// in any order), and positives from the same grade on.
bool SameData(const EvaluationRecord& a, const EvaluationRecord& b);

// What the name of a data set ends with whose documents are ranked by the best of their passages.
inline constexpr std::string_view kByDocument = ", by document";
bool IsByDocument(const DatasetFacts& dataset);

// "ens, split test".
std::string DataName(const DatasetFacts& dataset);

// "ens, split test (161 queries, 60 documents)"; where positives begin at another grade than 1,
// that too.
std::string DataWords(const DatasetFacts& dataset);

// DataWords of both with "and" between them, and that the queries or the data are others where
// that is all the difference: "ens, split test (161 queries, 60 documents) and ens, split test
// (...)".
std::string BothDataWords(const EvaluationRecord& a, const EvaluationRecord& b);

}  // namespace tandem::report
