// Reads the labels, scores and probabilities of a training line.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/input/line_reader.h"
#include "data/lines/json_line.h"
#include "data/lines/line_rules.h"

namespace tandem::data {

// The expected grade, in [0, 1], of a judge that gives the grades 0..N with probabilities p(0..N):
// (1/N) sum_s s p(s) (BiXSE). Throws DataError at the reader's line for fewer
// than two probabilities, one outside [0, 1], and a sum that is not 1 within 1 %: mass that a judge
// puts elsewhere would lower every grade.
double ExpectedGrade(const LineReader& reader, std::string_view key,
                     std::span<const double> probabilities);

// Reads a list of probabilities for each of `count` documents; kNoScore for a null. Throws
// DataError for anything else.
std::vector<double> ExpectedGradeList(const LineReader& reader, const JsonField& field,
                                      size_t count);

// Numbers from what lines have as labels and scores: numbers, numbers in strings ("0.0"), booleans,
// and labels that the rules give a number (LineRules::labels).
//
// A word that they do not is an error, but not at once: EndLine and EndFile throw it when some more
// lines have shown which other words there are.
class ScoreReader {
 public:
  // Both must outlive this object.
  ScoreReader(const LineReader& reader, const LineRules& rules) : reader_(reader), rules_(rules) {}

  // Says whether `field` is one value that may be a score.
  static bool IsScalar(const JsonField& field);
  // Says how many values a list of scores has; 0 for what is none.
  static size_t Count(const JsonField& field);

  // kNoScore for a null. Throws DataError for a list or an object.
  double Number(std::string_view key, const JsonField& field);
  // A list of scores for `count` documents; good until the next call. Throws DataError.
  std::span<const double> List(const JsonField& field, size_t count);

  // Says whether there were words, for which numbers are missing.
  bool has_words() const { return !words_.empty(); }
  // Throws DataError after words.
  void EndLine();
  void EndFile() const;

 private:
  double OfText(std::string_view key, std::string_view text);
  double OfNumber(std::string_view key, double number);
  void AddWord(std::string_view key, std::string_view word);

  const LineReader& reader_;
  const LineRules& rules_;
  std::vector<double> numbers_;     // of the last list
  std::vector<std::string> words_;  // that are no numbers, in the order of the file
  std::string word_key_;
  int64_t word_line_ = 0;
};

}  // namespace tandem::data
