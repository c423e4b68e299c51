#include "data/lines/score_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "data/dataset.h"

namespace tandem::data {
namespace {

// Says how far a sum of probabilities may be from 1: judges round what they report, and some leave
// out unlikely answers.
constexpr double kSumTolerance = 0.01;

// Words that an error names, and how many lines are looked at for them.
constexpr size_t kMostWords = 8;
constexpr int64_t kLinesForWords = 1000;

void CheckLength(const LineReader& reader, std::string_view key, size_t found, size_t wanted) {
  if (found == wanted) return;
  throw reader.Error(fmt::format("\"{}\" has {} entries for {} documents", key, found, wanted));
}

}  // namespace

double ExpectedGrade(const LineReader& reader, std::string_view key,
                     std::span<const double> probabilities) {
  if (probabilities.size() < 2) {
    throw reader.Error(
        fmt::format("\"{}\" has {} probabilities; a judge with the grades 0..N has "
                    "N + 1, at least two",
                    key, probabilities.size()));
  }
  double mass = 0, sum = 0;
  for (size_t s = 0; s < probabilities.size(); ++s) {
    const double p = probabilities[s];
    if (!(p >= 0 && p <= 1)) {
      throw reader.Error(fmt::format("\"{}\" has the probability {}; expected 0 to 1", key, p));
    }
    mass += p;
    sum += static_cast<double>(s) * p;
  }
  if (std::abs(mass - 1) > kSumTolerance) {
    throw reader.Error(fmt::format(
        "\"{}\" has probabilities that sum to {:.4g}; expected 1: divide them by their sum", key,
        mass));
  }
  return std::min(1.0, sum / static_cast<double>(probabilities.size() - 1));
}

std::vector<double> ExpectedGradeList(const LineReader& reader, const JsonField& field,
                                      size_t count) {
  if (field.kind != JsonField::Kind::kNumberLists && !field.is_empty_list()) {
    throw reader.Error(fmt::format("\"{}\" is {}; expected a list of lists of numbers", field.key,
                                   KindName(field.kind)));
  }
  CheckLength(reader, field.key, field.number_lists.size(), count);
  std::vector<double> grades;
  for (const std::vector<double>& probabilities : field.number_lists) {
    grades.push_back(probabilities.empty() ? kNoScore
                                           : ExpectedGrade(reader, field.key, probabilities));
  }
  return grades;
}

bool ScoreReader::IsScalar(const JsonField& field) {
  return field.is_number() || field.kind == JsonField::Kind::kString ||
         field.kind == JsonField::Kind::kBoolean;
}

size_t ScoreReader::Count(const JsonField& field) {
  switch (field.kind) {
    case JsonField::Kind::kNumbers:
      return field.numbers.size();
    case JsonField::Kind::kStrings:
      return field.list.size();
    case JsonField::Kind::kValues:
      return field.values.size();
    case JsonField::Kind::kNumberLists:
    case JsonField::Kind::kObjects:
    case JsonField::Kind::kString:
    case JsonField::Kind::kInteger:
    case JsonField::Kind::kNumber:
    case JsonField::Kind::kBoolean:
    case JsonField::Kind::kNull:
    case JsonField::Kind::kOther:
      break;
  }
  return 0;
}

double ScoreReader::Number(std::string_view key, const JsonField& field) {
  switch (field.kind) {
    case JsonField::Kind::kNull:
      return kNoScore;
    case JsonField::Kind::kString:
      return OfText(key, field.text);
    case JsonField::Kind::kInteger:
    case JsonField::Kind::kNumber:
      return OfNumber(key, field.number);
    case JsonField::Kind::kBoolean:
      if (rules_.labels.empty()) return field.number;
      return OfText(key, field.number != 0 ? "true" : "false");
    case JsonField::Kind::kStrings:
    case JsonField::Kind::kNumbers:
    case JsonField::Kind::kValues:
    case JsonField::Kind::kNumberLists:
    case JsonField::Kind::kObjects:
    case JsonField::Kind::kOther:
      break;
  }
  throw reader_.Error(fmt::format("\"{}\" is {}; expected a number", key, KindName(field.kind)));
}

std::span<const double> ScoreReader::List(const JsonField& field, size_t count) {
  const bool is_list = field.kind == JsonField::Kind::kNumbers ||
                       field.kind == JsonField::Kind::kStrings ||
                       field.kind == JsonField::Kind::kValues;
  if (!is_list) {
    throw reader_.Error(
        fmt::format("\"{}\" is {}; expected a list of numbers", field.key, KindName(field.kind)));
  }
  CheckLength(reader_, field.key, Count(field), count);
  if (field.kind == JsonField::Kind::kNumbers && rules_.labels.empty()) return field.numbers;
  numbers_.clear();
  if (field.kind == JsonField::Kind::kNumbers) {
    for (const double number : field.numbers) numbers_.push_back(OfNumber(field.key, number));
  } else if (field.kind == JsonField::Kind::kStrings) {
    for (const std::string_view text : field.list) numbers_.push_back(OfText(field.key, text));
  } else {
    for (const JsonField& value : field.values) numbers_.push_back(Number(field.key, value));
  }
  return numbers_;
}

double ScoreReader::OfText(std::string_view key, std::string_view text) {
  for (const LabelNumber& known : rules_.labels) {
    if (known.label == text) return known.number;
  }
  const std::optional<double> number = NumberOfText(text);
  if (number) return OfNumber(key, *number);
  AddWord(key, text);
  return kNoScore;
}

double ScoreReader::OfNumber(std::string_view key, double number) {
  if (rules_.labels.empty()) return number;
  for (const LabelNumber& known : rules_.labels) {
    if (NumberOfText(known.label) == number) return known.number;
  }
  AddWord(key, fmt::format("{}", number));
  return kNoScore;
}

void ScoreReader::AddWord(std::string_view key, std::string_view word) {
  if (words_.empty()) {
    word_key_ = key;
    word_line_ = reader_.line_number();
  }
  const bool is_new = std::find(words_.begin(), words_.end(), word) == words_.end();
  if (is_new && words_.size() < kMostWords) words_.emplace_back(word);
}

void ScoreReader::EndLine() {
  if (words_.empty()) return;
  if (words_.size() == kMostWords || reader_.line_number() - word_line_ >= kLinesForWords)
    EndFile();
}

void ScoreReader::EndFile() const {
  if (words_.empty()) return;
  std::string found, recipe, flag;
  for (const std::string& word : words_) {
    const std::string_view separator = found.empty() ? "" : ", ";
    found += fmt::format("{}\"{}\"", separator, word);
    recipe += fmt::format("{}\"{}=...\"", separator, word);
    flag += fmt::format("{}{}=...", flag.empty() ? "" : ",", word);
  }
  throw DataError(
      reader_.file(), word_line_, "",
      fmt::format("\"{}\" is {}, {}; say what number each is, as 1 for positives and 0 for "
                  "negatives: data.labels = [{}] in a recipe, --labels {} elsewhere",
                  word_key_, found,
                  rules_.labels.empty() ? "where a number, true or false is expected"
                                        : "which data.labels (--labels) does not name",
                  recipe, flag));
}

}  // namespace tandem::data
