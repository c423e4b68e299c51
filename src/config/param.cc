#include "config/param.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/suggest.h"
#include "config/quantity.h"

namespace tandem::config {
namespace {

std::string FoundText(const Value& value) {
  static constexpr std::string_view kTypes[] = {"nothing", "boolean", "integer", "number", "string",
                                                "range",   "list",    "list",    "list"};
  return fmt::format("found {} {}", kTypes[value.index()], FormatValue(value));
}

std::string OutOfRange(const ParamInfo& info, const Value& value) {
  return fmt::format("must be {}, found {}", FormatRange(info), FormatValue(value));
}

CheckedValue WrongType(const ParamInfo& info, const Value& value) {
  return {{}, fmt::format("must be {}, {}", KindPhrase(info.kind), FoundText(value))};
}

CheckedValue CheckNumber(const ParamInfo& info, const Value& value) {
  Value number = value;
  if (const auto* integer = std::get_if<int64_t>(&value); integer != nullptr) {
    number = static_cast<double>(*integer);
  }
  const auto* real = std::get_if<double>(&number);
  if (real == nullptr) return WrongType(info, value);
  if (!std::isfinite(*real)) return {{}, fmt::format("must be finite, {}", FoundText(value))};
  const bool inside = *real >= info.range.minimum && *real <= info.range.maximum;
  return inside ? CheckedValue{number, ""} : CheckedValue{{}, OutOfRange(info, value)};
}

CheckedValue CheckInteger(const ParamInfo& info, const Value& value) {
  const auto* integer = std::get_if<int64_t>(&value);
  if (integer == nullptr) return WrongType(info, value);
  const auto real = static_cast<double>(*integer);
  const bool inside = real >= info.range.minimum && real <= info.range.maximum;
  return inside ? CheckedValue{value, ""} : CheckedValue{{}, OutOfRange(info, value)};
}

// Whether true and false, as TOML has them, are two of the choices.
bool HasBooleans(const ParamInfo& info) {
  const auto has = [&info](std::string_view name) {
    return std::any_of(info.choices.begin(), info.choices.end(),
                       [name](const ChoiceInfo& choice) { return choice.name == name; });
  };
  return has("true") && has("false");
}

CheckedValue CheckChoice(const ParamInfo& info, const Value& value) {
  std::optional<std::string> text;
  if (const auto* given = std::get_if<std::string>(&value)) text = *given;
  if (const auto* flag = std::get_if<bool>(&value); flag != nullptr && HasBooleans(info)) {
    text = *flag ? "true" : "false";
  }
  if (!text) return WrongType(info, value);
  std::vector<std::string_view> names;
  for (const ChoiceInfo& choice : info.choices) {
    if (choice.name == *text) return {*text, ""};
    names.push_back(choice.name);
  }
  return {{}, OutOfRange(info, value) + DidYouMean(*text, names)};
}

CheckedValue CheckQuantity(const ParamInfo& info, const Value& value) {
  const ParsedQuantity parsed = ParseQuantity(value, info.unit);
  if (!parsed.problem.empty()) return {{}, parsed.problem};
  const double amount = parsed.quantity.amount;
  const bool inside =
      parsed.quantity.share || (amount >= info.range.minimum && amount <= info.range.maximum);
  return inside ? CheckedValue{value, ""} : CheckedValue{{}, OutOfRange(info, value)};
}

CheckedValue CheckRange(const ParamInfo& info, const Value& value) {
  const auto* range = std::get_if<Range>(&value);
  if (range == nullptr) return WrongType(info, value);
  const bool ordered = std::isfinite(range->minimum) && std::isfinite(range->maximum) &&
                       range->minimum < range->maximum;
  return ordered ? CheckedValue{value, ""}
                 : CheckedValue{{}, fmt::format("must rise, found {}", FormatValue(value))};
}

// A list of `T`s, each inside the range; integers serve as numbers.
template <typename T>
CheckedValue CheckList(const ParamInfo& info, const Value& value) {
  std::vector<T> list;
  if (const auto* integers = std::get_if<Integers>(&value)) {
    list.assign(integers->begin(), integers->end());
  } else if (const auto* held = std::get_if<std::vector<T>>(&value)) {
    list = *held;
  }
  if (list.empty()) return WrongType(info, value);
  for (const T element : list) {
    const auto real = static_cast<double>(element);
    if (!std::isfinite(real) || real < info.range.minimum || real > info.range.maximum) {
      return {{},
              fmt::format("must each be {}, found {}", FormatRange(info), FormatValue(element))};
    }
  }
  return {list, ""};
}

// A list of texts; one text is a list of one.
CheckedValue CheckStrings(const ParamInfo& info, const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return {Strings{*text}, ""};
  if (const auto* list = std::get_if<Strings>(&value)) return {*list, ""};
  return WrongType(info, value);
}

// Control characters, quotes and backslashes escaped as TOML's basic strings want them.
std::string Quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      quoted += fmt::format("\\u{:04X}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string FormatNumber(double number) {
  std::string text = fmt::format("{}", number);
  if (std::isfinite(number) && text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// A bound as a person writes it: 65536, not 65536.0.
std::string FormatBound(double bound) { return fmt::format("{}", bound); }

}  // namespace

CheckedValue CheckValue(const ParamInfo& info, const Value& value) {
  switch (info.kind) {
    case ParamKind::kNumber:
      return CheckNumber(info, value);
    case ParamKind::kInteger:
      return CheckInteger(info, value);
    case ParamKind::kBoolean:
      return std::holds_alternative<bool>(value) ? CheckedValue{value, ""} : WrongType(info, value);
    case ParamKind::kChoice:
      return CheckChoice(info, value);
    case ParamKind::kString:
      return std::holds_alternative<std::string>(value) ? CheckedValue{value, ""}
                                                        : WrongType(info, value);
    case ParamKind::kQuantity:
      return CheckQuantity(info, value);
    case ParamKind::kRange:
      return CheckRange(info, value);
    case ParamKind::kIntegers:
      return CheckList<int64_t>(info, value);
    case ParamKind::kNumbers:
      return CheckList<double>(info, value);
    case ParamKind::kStrings:
      return CheckStrings(info, value);
  }
  return WrongType(info, value);
}

Value DefaultOf(const ParamInfo& info) {
  return std::visit(
      [](const auto& held) -> Value {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string_view>) {
          return std::string(held);
        } else {
          return held;
        }
      },
      info.default_value);
}

std::string FormatValue(const Value& value) {
  struct Formatter {
    std::string operator()(std::monostate) const { return ""; }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(int64_t integer) const { return fmt::format("{}", integer); }
    std::string operator()(double number) const { return FormatNumber(number); }
    std::string operator()(const std::string& text) const { return Quote(text); }
    std::string operator()(const Range& range) const {
      return fmt::format("[{}, {}]", FormatNumber(range.minimum), FormatNumber(range.maximum));
    }
    std::string operator()(const Integers& list) const {
      return list.empty() ? "" : fmt::format("[{}]", fmt::join(list, ", "));
    }
    std::string operator()(const Numbers& list) const {
      std::vector<std::string> texts;
      for (const double number : list) texts.push_back(FormatNumber(number));
      return list.empty() ? "" : fmt::format("[{}]", fmt::join(texts, ", "));
    }
    std::string operator()(const Strings& list) const {
      std::vector<std::string> texts;
      for (const std::string& text : list) texts.push_back(Quote(text));
      return list.empty() ? "" : fmt::format("[{}]", fmt::join(texts, ", "));
    }
  };
  return std::visit(Formatter(), value);
}

std::string FormatRange(const ParamInfo& info) {
  if (!info.choices.empty()) {
    std::string names;
    for (const ChoiceInfo& choice : info.choices) {
      names += names.empty() ? "one of " : ", ";
      names += choice.name;
    }
    return names;
  }
  const std::string unit = info.unit.empty() ? std::string() : fmt::format(" {}", info.unit);
  const bool below = std::isfinite(info.range.minimum);
  const bool above = std::isfinite(info.range.maximum);
  const std::string low = FormatBound(info.range.minimum);
  const std::string high = FormatBound(info.range.maximum);
  if (below && above) return fmt::format("from {} to {}{}", low, high, unit);
  if (below) return fmt::format("at least {}{}", low, unit);
  if (above) return fmt::format("at most {}{}", high, unit);
  return "";
}

std::string_view KindPhrase(ParamKind kind) {
  switch (kind) {
    case ParamKind::kNumber:
      return "a number";
    case ParamKind::kInteger:
      return "an integer";
    case ParamKind::kBoolean:
      return "true or false";
    case ParamKind::kChoice:
    case ParamKind::kString:
      return "a string";
    case ParamKind::kQuantity:
      return "a quantity";
    case ParamKind::kRange:
      return "two numbers [lowest, highest]";
    case ParamKind::kIntegers:
      return "a list of integers, as [384, 128]";
    case ParamKind::kNumbers:
      return "a list of numbers, as [1.0, 0.5]";
    case ParamKind::kStrings:
      return "a text, or a list of texts";
  }
  return "";
}

std::string_view KindName(ParamKind kind) {
  static constexpr std::string_view kNames[] = {"number",  "integer",  "boolean", "choice",
                                                "string",  "quantity", "range",   "integers",
                                                "numbers", "strings"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace tandem::config
