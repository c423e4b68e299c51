// Writing and reading evaluation.json: {"format": "tandem evaluation", "version": 1, ...} and the
// members of report/records/evaluation_fields.h.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "report/records/evaluation_record.h"

namespace tandem::report {

// The suffix of such files in the folder `report` of a run: "after.evaluation.json".
inline constexpr std::string_view kEvaluationSuffix = ".evaluation.json";

// The file's bytes, one line. Bytes of texts that are no UTF-8 become U+FFFD. Throws NumericError
// for a number that is not finite, where it is not an optional one; an optional one becomes null.
std::string EvaluationText(const EvaluationRecord& record);

// Reads what EvaluationText writes; `file` stands in messages. Throws DataError that names the
// member at fault ("roc.points[3]") for broken JSON, another format or version, an unknown or
// missing member, a value of another type or out of range, bins that are none, and values per query
// that are not as many as the queries.
EvaluationRecord ParseEvaluation(std::string_view text, std::string_view file);

// Reads it from a file.
EvaluationRecord ReadEvaluation(const std::filesystem::path& path);

}  // namespace tandem::report
