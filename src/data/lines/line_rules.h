// The user's rules for the lines of a file, which the lines do not state themselves.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::data {

// The number that a label stands for.
struct LabelNumber {
  std::string label;
  double number = 0;
};

// Recipes set them as `data.labels`, `data.ignore_columns` and `data.ids`, commands by flags
// (commands/line_flags.h).
struct LineRules {
  // Where there are any, every label and score of the lines must be one of them.
  std::vector<LabelNumber> labels;
  std::vector<std::string> ignored;  // keys that are passed over, whatever they look like
  bool ids_of_texts = false;         // Tevatron: a text is one query or document, whatever its id

  bool empty() const { return labels.empty() && ignored.empty() && !ids_of_texts; }
};

// "up=1"; nothing for anything else. What stands before the last "=" is the label, without blanks
// around it; it may be empty.
std::optional<LabelNumber> ParseLabelNumber(std::string_view text);

// Describes the problem if a label has two numbers; "": no label has.
std::string TwoNumbersProblem(std::span<const LabelNumber> labels);

// The text without the blanks, tabs and line ends around it.
std::string_view WithoutBlanks(std::string_view text);

// The number that a text is: decimal, with blanks around it ("0", " 1.5 ", "-1e-3"). Gives nothing
// for any other text, for "nan" and "inf".
std::optional<double> NumberOfText(std::string_view text);

}  // namespace tandem::data
