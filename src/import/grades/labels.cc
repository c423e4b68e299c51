#include "import/grades/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tandem::import_data {
namespace {

constexpr size_t kMostUnknown = 8;

struct Thumb {
  std::string_view word;
  double grade;
};
constexpr std::array kThumbs = {Thumb{"up", 1},         Thumb{"yes", 1},      Thumb{"true", 1},
                                Thumb{"like", 1},       Thumb{"good", 1},     Thumb{"liked", 1},
                                Thumb{"relevant", 1},   Thumb{"positive", 1}, Thumb{"👍", 1},
                                Thumb{"down", 0},       Thumb{"no", 0},       Thumb{"false", 0},
                                Thumb{"dislike", 0},    Thumb{"bad", 0},      Thumb{"disliked", 0},
                                Thumb{"irrelevant", 0}, Thumb{"negative", 0}, Thumb{"👎", 0}};

// "Thumbs Up" as "up".
std::string PlainWord(std::string_view text) {
  std::string word;
  for (const char c : text) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    word += is_upper ? static_cast<char>(c + 32) : c == '-' || c == ' ' ? '_' : c;
  }
  for (const std::string_view start : {"thumbs_", "thumb_"}) {
    if (word.starts_with(start)) return word.substr(start.size());
  }
  return word;
}

}  // namespace

std::optional<double> GradeOfThumb(std::string_view text) {
  const std::string plain = PlainWord(data::WithoutBlanks(text));
  const auto* const found = std::find_if(kThumbs.begin(), kThumbs.end(),
                                         [&](const Thumb& thumb) { return plain == thumb.word; });
  return found == kThumbs.end() ? std::nullopt : std::optional(found->grade);
}

Labels::Read Labels::Unknown(std::string_view word) {
  const bool is_new = std::find(unknown_.begin(), unknown_.end(), word) == unknown_.end();
  if (is_new && unknown_.size() < kMostUnknown) unknown_.emplace_back(word);
  return {.grade = {},
          .problem = fmt::format(
              "the label \"{}\" has no number; give it one: --labels {}=1 (or 0)", word, word)};
}

Labels::Read Labels::OfText(std::string_view text) {
  const std::string_view word = data::WithoutBlanks(text);
  const std::optional<double> number = data::NumberOfText(word);
  for (const data::LabelNumber& known : numbers_) {
    const bool is_same =
        known.label == word || (number && data::NumberOfText(known.label) == number);
    if (is_same) return {.grade = known.number, .problem = ""};
  }
  if (word.empty()) return {.grade = {}, .problem = "has no label"};
  if (!numbers_.empty()) return Unknown(word);
  if (number && *number < 0) {
    Unknown(word);
    return {.grade = {},
            .problem = fmt::format("the label {} is below 0, which means \"not judged\"; give it "
                                   "another number: --labels {}=0",
                                   word, word)};
  }
  if (number) return {.grade = number, .problem = ""};
  const std::optional<double> grade = GradeOfThumb(word);
  if (!grade) return Unknown(word);
  ++thumbs_[fmt::format("{}={}", word, *grade)];
  return {.grade = grade, .problem = ""};
}

Labels::Read Labels::Grade(const data::JsonField& cell) {
  using Kind = data::JsonField::Kind;
  switch (cell.kind) {
    case Kind::kString:
    case Kind::kInteger:
      return OfText(cell.text);
    case Kind::kNumber:
      return OfText(fmt::format("{}", cell.number));
    case Kind::kBoolean:
      return OfText(cell.number != 0 ? "true" : "false");
    case Kind::kNull:
      return OfText("");
    case Kind::kStrings:
    case Kind::kNumbers:
    case Kind::kValues:
    case Kind::kNumberLists:
    case Kind::kObjects:
    case Kind::kOther:
      break;
  }
  return {.grade = {},
          .problem = fmt::format("the label is {}; expected one value", data::KindName(cell.kind))};
}

}  // namespace tandem::import_data
