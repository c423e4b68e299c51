// Reads the scores and probabilities of a training line.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "data/json_line.h"
#include "data/line_reader.h"

namespace tandem::data {

// The expected grade, in [0, 1], of a judge that gives the grades 0..N with probabilities p(0..N):
// (1/N) sum_s s p(s) (BiXSE). Throws DataError at the reader's line for fewer
// than two probabilities, one outside [0, 1], and a sum that is not 1 within 1 %: mass that a judge
// puts elsewhere would lower every grade.
double ExpectedGrade(const LineReader& reader, std::string_view key,
                     std::span<const double> probabilities);

// The scores of `count` documents: a list of numbers of that length. Throws DataError.
std::span<const double> ScoreList(const LineReader& reader, const JsonField& field, size_t count);
// The same from a list of probabilities for each of them.
std::vector<double> ExpectedGradeList(const LineReader& reader, const JsonField& field,
                                      size_t count);

}  // namespace tandem::data
