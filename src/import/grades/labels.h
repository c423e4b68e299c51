// Grades from labels: numbers, words that a user names, thumbs.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/lines/json_line.h"
#include "data/lines/line_rules.h"

namespace tandem::import_data {

// The grade of a word of thumbs, as Labels reads it without numbers: 1, 0, or none.
std::optional<double> GradeOfThumb(std::string_view text);

class Labels {
 public:
  // Where `numbers` has any, every label must be one of them (as LineRules::labels of training
  // lines): by its text without blanks around it, or by its number. Without any, labels are numbers
  // and the words of thumbs: up, yes, true, like, good, relevant, 👍 are 1; down, no, false,
  // dislike, bad, irrelevant, 👎 are 0 (upper or lower case, "thumbs_up" as "up").
  explicit Labels(std::vector<data::LabelNumber> numbers) : numbers_(std::move(numbers)) {}

  struct Read {
    std::optional<double> grade;
    std::string problem;  // why there is none
  };
  // The grade of a cell. There is none for an empty one, a list, a word without a number, and a
  // grade below 0, which a file of judgements would take for "not judged".
  Read Grade(const data::JsonField& cell);

  // The words that had no number, in the order in which they came, eight at most.
  const std::vector<std::string>& unknown() const { return unknown_; }
  // The words that were taken for thumbs, with how often they came.
  const std::map<std::string, uint64_t>& thumbs() const { return thumbs_; }

 private:
  Read OfText(std::string_view text);
  Read Unknown(std::string_view word);

  std::vector<data::LabelNumber> numbers_;
  std::vector<std::string> unknown_;
  std::map<std::string, uint64_t> thumbs_;
};

}  // namespace tandem::import_data
