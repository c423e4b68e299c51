#include "data/lines/line_rules.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace tandem::data {
std::string_view WithoutBlanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::optional<double> NumberOfText(std::string_view text) {
  text = WithoutBlanks(text);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<LabelNumber> ParseLabelNumber(std::string_view text) {
  const size_t sign = text.rfind('=');
  if (sign == std::string_view::npos) return std::nullopt;
  const std::optional<double> number = NumberOfText(text.substr(sign + 1));
  const std::string_view label = WithoutBlanks(text.substr(0, sign));
  if (!number) return std::nullopt;
  return LabelNumber{std::string(label), *number};
}

std::string TwoNumbersProblem(std::span<const LabelNumber> labels) {
  for (size_t i = 0; i < labels.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (labels[i].label != labels[j].label || labels[i].number == labels[j].number) continue;
      return fmt::format("has {} for the label \"{}\" and {} before it", labels[i].number,
                         labels[i].label, labels[j].number);
    }
  }
  return "";
}

}  // namespace tandem::data
