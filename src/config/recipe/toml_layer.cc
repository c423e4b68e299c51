#include "config/recipe/toml_layer.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <system_error>

#include "base/error.h"

namespace tandem::config {
namespace {

// Turns toml++'s "Error while parsing key-value pair: encountered end-of-file" into a message that
// follows a position: what was being read, and what is wrong with it.
std::string Reword(std::string_view description) {
  constexpr std::string_view kPrefix = "Error while parsing ";
  if (description.substr(0, kPrefix.size()) != kPrefix) {
    return fmt::format("not valid TOML: {}", description);
  }
  description.remove_prefix(kPrefix.size());
  const size_t colon = description.find(": ");
  if (colon == std::string_view::npos) return fmt::format("not valid TOML: {}", description);
  return fmt::format("not valid TOML in this {}: {}", description.substr(0, colon),
                     description.substr(colon + 2));
}

std::optional<toml::table> TryParse(const std::string& text) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error&) {
    return std::nullopt;
  }
}

bool IsKey(std::string_view key) {
  if (key.empty() || key.front() == '.' || key.back() == '.') return false;
  if (key.find("..") != std::string_view::npos) return false;
  return key.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
         std::string_view::npos;
}

// Says whether the table holds one assignment only. A value with line breaks could bring further
// keys.
bool IsSingle(const toml::table& table) {
  const toml::node* node = &table;
  while (const toml::table* inner = node->as_table()) {
    if (inner->is_inline() && node != &table) return true;
    if (inner->size() != 1) return false;
    node = &inner->begin()->second;
  }
  return true;
}

}  // namespace

TomlLayer ParseFileLayer(std::string_view text, std::string_view name) {
  try {
    return {std::string(name), false, toml::parse(text)};
  } catch (const toml::parse_error& error) {
    const toml::source_position& position = error.source().begin;
    throw RecipeError(name, static_cast<int>(position.line), static_cast<int>(position.column), "",
                      Reword(error.description()));
  }
}

TomlLayer ParseSetLayer(std::string_view assignment) {
  const std::string source = fmt::format("--set {}", assignment);
  const size_t equals = assignment.find('=');
  const std::string_view key = assignment.substr(0, equals);
  if (equals == std::string_view::npos || !IsKey(key)) {
    throw RecipeError(source, 0, 0, "", "must be KEY=VALUE, like train.batch=32");
  }
  const std::string_view value = assignment.substr(equals + 1);
  const bool one_line = value.find_first_of("\n\r") == std::string_view::npos;
  std::optional<toml::table> table;
  if (one_line) table = TryParse(fmt::format("{} = {}", key, value));
  if (!table || !IsSingle(*table)) {
    table = TryParse(fmt::format("{} = {}", key, FormatValue(std::string(value))));
  }
  if (!table) throw RecipeError(source, 0, 0, "", "is not UTF-8 text");
  return {source, true, std::move(*table)};
}

namespace {

// The element of a list by its number, counted from 1; nullptr where there is none.
const toml::node* ElementOf(const toml::array& list, std::string_view number) {
  size_t place = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), place);
  const bool is_number = error == std::errc() && end == number.data() + number.size();
  return is_number && place > 0 && place <= list.size() ? &list[place - 1] : nullptr;
}

const toml::node* ChildOf(const toml::node& node, std::string_view name) {
  if (const toml::table* table = node.as_table()) return table->get(name);
  if (const toml::array* list = node.as_array()) return ElementOf(*list, name);
  return nullptr;
}

}  // namespace

const toml::node* FindNode(const TomlLayer& layer, std::string_view path) {
  const toml::node* node = &layer.table;
  while (!path.empty()) {
    const size_t dot = path.find('.');
    node = ChildOf(*node, path.substr(0, dot));
    if (node == nullptr) return nullptr;
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return node;
}

namespace {

// An array of exactly two numbers.
Value RangeOf(const toml::array& array) {
  if (array.size() != 2) return {};
  const std::optional<double> minimum = array[0].value<double>();
  const std::optional<double> maximum = array[1].value<double>();
  if (!array[0].is_number() || !array[1].is_number() || !minimum || !maximum) return {};
  return Range{*minimum, *maximum};
}

// An array of numbers: integers where all of them are.
Value ListOf(const toml::array& array) {
  Integers integers;
  Numbers numbers;
  for (const toml::node& element : array) {
    const std::optional<double> number = element.value<double>();
    if (!element.is_number() || !number) return {};
    numbers.push_back(*number);
    if (const auto* integer = element.as_integer()) integers.push_back(integer->get());
  }
  if (numbers.empty()) return {};
  if (integers.size() == numbers.size()) return integers;
  return numbers;
}

// Names the kind of an element that a list should not hold.
std::string_view ElementKind(const toml::node& element) {
  if (element.is_number()) return "a number";
  if (element.is_string()) return "a text";
  if (element.is_boolean()) return "true or false";
  return element.is_array() ? "a list" : "something else";
}

// An array of texts, which may be empty.
Value TextsOf(const toml::array& array) {
  Strings texts;
  for (const toml::node& element : array) {
    if (!element.is_string()) return {};
    texts.push_back(element.as_string()->get());
  }
  return texts;
}

}  // namespace

Value ValueOf(const toml::node& node, ParamKind kind) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* integer = node.as_integer()) return integer->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* array = node.as_array()) {
    if (kind == ParamKind::kStrings) return TextsOf(*array);
    const bool list = kind == ParamKind::kIntegers || kind == ParamKind::kNumbers;
    return list ? ListOf(*array) : RangeOf(*array);
  }
  return {};
}

std::string NodeKindName(const toml::node& node, ParamKind kind) {
  const bool of_texts = kind == ParamKind::kStrings;
  const bool of_numbers = kind == ParamKind::kIntegers || kind == ParamKind::kNumbers;
  if (const auto* array = node.as_array(); array != nullptr && (of_texts || of_numbers)) {
    if (array->empty()) return "an empty list; leave the key out for none";
    for (const toml::node& element : *array) {
      const bool fits = of_texts ? element.is_string() : element.is_number();
      if (!fits) return fmt::format("a list with {}", ElementKind(element));
    }
  }
  switch (node.type()) {
    case toml::node_type::table:
      return "table";
    case toml::node_type::array:
      return "array";
    default:
      return "date or time";
  }
}

}  // namespace tandem::config
