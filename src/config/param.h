// Parameter descriptors: what a value in a recipe is called, means and may be.
//
// One descriptor serves parsing, range checks, defaults, `tandem explain` and the generated docs,
// so that none of them can disagree. Descriptors are constant data:
//
//   constexpr ParamInfo kParams[] = {
//       Number("scale", "", "multiplies scores before the sigmoid", 20, {1e-3, 1e4}),
//       Choice("weighting", "what a pair weighs", "ndcg2", kWeightings),
//       Number("mu", "", "weight of ndcg2 in ndcg2++", 10, {0, 1e6})
//           .Needs("weighting = \"ndcg2++\"", IsPlusPlus)};
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tandem::config {

class Params;  // config/params.h

enum class ParamKind {
  kNumber,
  kInteger,
  kBoolean,
  kChoice,
  kString,
  kQuantity,
  kRange,
  kIntegers,
  kNumbers,
  kStrings
};

// Both ends belong to the range.
struct Range {
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  bool operator==(const Range&) const = default;
};

// Lists; an empty one is "not set".
using Integers = std::vector<int64_t>;
using Numbers = std::vector<double>;
using Strings = std::vector<std::string>;

// A value that was read or is a default; monostate is "not set".
using Value = std::variant<std::monostate, bool, int64_t, double, std::string, Range, Integers,
                           Numbers, Strings>;

// One spelling that a choice takes, with a one-line meaning.
struct ChoiceInfo {
  std::string_view name;
  std::string_view doc;
};

// The default of a descriptor; monostate: none, `unset_doc` says what happens then.
using DefaultValue = std::variant<std::monostate, bool, int64_t, double, std::string_view>;

// Says when a parameter does something. Setting one that does nothing is an error.
struct ParamCondition {
  // The condition in words that follow "needs": `weighting = "ndcg2++"`. Empty: no condition.
  std::string_view text;
  bool (*holds)(const Params& params) = nullptr;  // null: always
};

struct ParamInfo {
  ParamKind kind = ParamKind::kNumber;
  std::string_view name;  // as spelled in recipes
  std::string_view unit;  // "" where a bare number is meant
  std::string_view doc;   // one line
  DefaultValue default_value;
  Range range;  // numbers and integers, and those of lists
  std::span<const ChoiceInfo> choices;
  std::string_view unset_doc;  // what holds when there is no value
  // The name of the parameter in other programs, and how to convert it: "sentence-transformers:
  // `scale` = 1 / temperature". Empty: no program that users come from has it.
  std::string_view elsewhere;
  ParamCondition condition;

  // Copies with `elsewhere` or `condition` set, to be written after Number(...) and the like.
  constexpr ParamInfo Elsewhere(std::string_view text) const {
    ParamInfo info = *this;
    info.elsewhere = text;
    return info;
  }
  constexpr ParamInfo Needs(std::string_view text, bool (*holds)(const Params& params)) const {
    ParamInfo info = *this;
    info.condition = {text, holds};
    return info;
  }
};

constexpr ParamInfo Number(std::string_view name, std::string_view unit, std::string_view doc,
                           double default_value, Range range) {
  return {ParamKind::kNumber, name, unit, doc, default_value, range};
}
// A number that may be absent.
constexpr ParamInfo OptionalNumber(std::string_view name, std::string_view unit,
                                   std::string_view doc, std::string_view unset_doc, Range range) {
  return {ParamKind::kNumber, name, unit, doc, std::monostate(), range, {}, unset_doc};
}
constexpr ParamInfo Integer(std::string_view name, std::string_view unit, std::string_view doc,
                            int64_t default_value, Range range) {
  return {ParamKind::kInteger, name, unit, doc, default_value, range};
}
constexpr ParamInfo Boolean(std::string_view name, std::string_view doc, bool default_value) {
  return {ParamKind::kBoolean, name, "", doc, default_value};
}
// `choices` must outlive the descriptor.
constexpr ParamInfo Choice(std::string_view name, std::string_view doc,
                           std::string_view default_value, std::span<const ChoiceInfo> choices) {
  return {ParamKind::kChoice, name, "", doc, default_value, {}, choices};
}
// A choice that may be absent.
constexpr ParamInfo OptionalChoice(std::string_view name, std::string_view doc,
                                   std::string_view unset_doc,
                                   std::span<const ChoiceInfo> choices) {
  return {ParamKind::kChoice, name, "", doc, std::monostate(), {}, choices, unset_doc};
}
constexpr ParamInfo String(std::string_view name, std::string_view doc,
                           std::string_view default_value) {
  return {ParamKind::kString, name, "", doc, default_value};
}

// The result of checking a value: the value in the descriptor's type (an integer becomes a number
// where a number is meant), or a text without the key that says what is wrong: `must be ..., found
// ...`.
struct CheckedValue {
  Value value;
  std::string problem;
};
CheckedValue CheckValue(const ParamInfo& info, const Value& value);

// The default as a value.
Value DefaultOf(const ParamInfo& info);

// The value as TOML writes it: shortest digits that read back to the same bits, strings quoted.
// "" for monostate.
std::string FormatValue(const Value& value);
// "from 1 to 64 queries", "at least 0", "one of mean, sum"; "" where anything of the type is right.
std::string FormatRange(const ParamInfo& info);
// "number", "integer", "boolean", "choice", "string", "quantity", "range", "integers", "numbers" or
// "strings".
std::string_view KindName(ParamKind kind);
// "a number", "an integer", "true or false", ... as in "must be a number".
std::string_view KindPhrase(ParamKind kind);

}  // namespace tandem::config
