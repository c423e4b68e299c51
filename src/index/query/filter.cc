#include "index/query/filter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/json/json_document.h"
#include "base/json/json_problem.h"
#include "base/suggest.h"
#include "text/width/display_width.h"

namespace tandem::index {
namespace {

using data::MetadataField;
using data::MetadataType;

// Bounds on what a stranger sends. A filter names a few fields; an object in an object is all that
// its JSON needs.
constexpr size_t kMaxJsonBytes = size_t{64} << 10;
constexpr size_t kMaxJsonLevels = 8;
constexpr size_t kMaxConditions = 100;
constexpr size_t kShownColumns = 60;  // of what a message quotes

struct Operator {
  std::string_view sign;
  Comparison comparison;
};
// A sign stands before those that it begins with.
constexpr std::array<Operator, 7> kOperators = {{{"==", Comparison::kEqual},
                                                 {"!=", Comparison::kNotEqual},
                                                 {"<=", Comparison::kLessEqual},
                                                 {">=", Comparison::kGreaterEqual},
                                                 {"=", Comparison::kEqual},
                                                 {"<", Comparison::kLess},
                                                 {">", Comparison::kGreater}}};

std::string Shown(std::string_view text) { return text::CutToWidth(text, kShownColumns); }

std::string_view WithoutBlanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

// The operator that `text` begins with; null where there is none.
const Operator* OperatorAt(std::string_view text) {
  const auto found = std::find_if(kOperators.begin(), kOperators.end(),
                                  [text](const Operator& o) { return text.starts_with(o.sign); });
  return found == kOperators.end() ? nullptr : &*found;
}

// "year (number), lang (string)".
std::string KnownFields(const std::vector<MetadataField>& fields) {
  std::vector<std::string> known;
  for (const MetadataField& field : fields) {
    known.push_back(fmt::format("{} ({})", field.name, data::MetadataTypeName(field.type)));
  }
  return fmt::format("{}", fmt::join(known, ", "));
}

[[noreturn]] void ThrowUnknownField(std::string_view name,
                                    const std::vector<MetadataField>& fields) {
  if (fields.empty()) {
    throw UsageError(fmt::format(
        "filter: the index has no field {}, nor any other; give --field when it is built",
        Shown(name)));
  }
  std::vector<std::string_view> names;
  for (const MetadataField& field : fields) names.push_back(field.name);
  throw UsageError(fmt::format("filter: the index has no field {}{}; it has {}", Shown(name),
                               DidYouMean(Shown(name), names), KnownFields(fields)));
}

const MetadataField& FieldNamed(std::string_view name, const std::vector<MetadataField>& fields) {
  const auto field = std::find_if(fields.begin(), fields.end(), [name](const MetadataField& other) {
    return other.name == name;
  });
  if (field == fields.end()) ThrowUnknownField(name, fields);
  return *field;
}

// --- Of the command line -------------------------------------------------------------------------

[[noreturn]] void ThrowNoCondition(std::string_view text) {
  throw UsageError(fmt::format(
      "filter \"{}\" is no condition; expected a field, one of = != < <= > >=, and a value, such "
      "as year>=2020",
      Shown(text)));
}

// A condition in parts, none of which has blanks around it.
struct ConditionText {
  std::string_view field;
  Comparison comparison = Comparison::kEqual;
  std::string_view value;
};

ConditionText SplitAt(std::string_view text, size_t at, const Operator& sign) {
  return {.field = WithoutBlanks(text.substr(0, at)),
          .comparison = sign.comparison,
          .value = WithoutBlanks(text.substr(at + sign.sign.size()))};
}

// A known field's name may hold the signs of operators; the longest one that fits is meant. An
// unknown name ends at the first sign.
ConditionText SplitCondition(std::string_view text, const std::vector<MetadataField>& fields) {
  const std::string_view trimmed = WithoutBlanks(text);
  std::optional<ConditionText> best;
  for (const MetadataField& field : fields) {
    if (!trimmed.starts_with(field.name)) continue;
    size_t at = field.name.size();
    while (at < trimmed.size() && trimmed[at] == ' ') ++at;
    const Operator* const sign = OperatorAt(trimmed.substr(at));
    if (sign == nullptr || (best && best->field.size() >= field.name.size())) continue;
    best = SplitAt(trimmed, at, *sign);
    best->field = field.name;
  }
  for (size_t at = 0; !best && at < trimmed.size(); ++at) {
    const Operator* const sign = OperatorAt(trimmed.substr(at));
    if (sign != nullptr) best = SplitAt(trimmed, at, *sign);
  }
  if (!best || best->field.empty()) ThrowNoCondition(text);
  // "year=>2020" means another sign than "=".
  const bool is_wrong_sign = best->value.starts_with('>') || best->value.starts_with('<');
  if (is_wrong_sign && best->comparison == Comparison::kEqual) ThrowNoCondition(text);
  return *best;
}

// Returns the text between double quotes, in which a backslash takes the next character as it is; a
// value without quotes is returned as it is.
std::string Unquoted(std::string_view value) {
  if (!value.starts_with('"')) return std::string(value);
  std::string text;
  size_t at = 1;
  while (at < value.size() && value[at] != '"') {
    if (value[at] == '\\' && at + 1 < value.size()) ++at;
    text += value[at++];
  }
  if (at + 1 != value.size()) {
    throw UsageError(fmt::format(
        "filter: the value {} begins with a quote and does not end with the next one; write \\\" "
        "for a quote within",
        Shown(value)));
  }
  return text;
}

double NumberOf(const std::string& text, const MetadataField& field) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || !std::isfinite(number)) {
    throw UsageError(
        fmt::format("filter: field {} holds numbers; found \"{}\"", field.name, Shown(text)));
  }
  return number;
}

// --- Of JSON -------------------------------------------------------------------------------------

std::variant<double, std::string> ValueOf(JsonElement value, const MetadataField& field) {
  if (field.type == MetadataType::kNumber) {
    if (const std::optional<double> number = value.Number()) return *number;
  } else if (const std::optional<std::string_view> text = value.String()) {
    return std::string(*text);
  }
  throw UsageError(fmt::format("filter: field {} holds {}s; found {}", field.name,
                               data::MetadataTypeName(field.type), value.KindName()));
}

void Add(Condition condition, Filter* filter) {
  if (filter->size() == kMaxConditions) {
    throw UsageError(fmt::format("filter: more than {} conditions", kMaxConditions));
  }
  filter->push_back(std::move(condition));
}

// {">=": 2020, "<": 2030}.
void AddConditions(JsonElement object, const MetadataField& field, Filter* filter) {
  if (object.members().empty()) {
    throw UsageError(fmt::format("filter: field {} has no condition", field.name));
  }
  for (const auto& [sign, value] : object.members()) {
    const Operator* const found = OperatorAt(sign);
    if (found == nullptr || found->sign != sign) {
      throw UsageError(fmt::format("filter: field {}: \"{}\" is none of = != < <= > >=", field.name,
                                   Shown(sign)));
    }
    Add({.field = field.name, .comparison = found->comparison, .value = ValueOf(value, field)},
        filter);
  }
}

JsonDocument Parsed(std::string_view json) {
  if (json.size() > kMaxJsonBytes) {
    throw UsageError(
        fmt::format("filter: {} bytes of JSON; at most {} are read", json.size(), kMaxJsonBytes));
  }
  try {
    auto document = JsonDocument::ParseStrictly(json, kMaxJsonLevels);
    if (!document) throw JsonTextError(JsonProblem(json));
    return *std::move(document);
  } catch (const JsonLevelsError&) {
    throw UsageError(
        fmt::format("filter: is not valid JSON: it nests deeper than {} levels", kMaxJsonLevels));
  } catch (const JsonTextError& error) {
    throw UsageError(fmt::format("filter: {}", error.what()));
  }
}

JsonElement RootObject(const JsonDocument& document) {
  if (document.root().is_object()) return document.root();
  throw UsageError(
      fmt::format("filter: expected an object such as {{\"year\": {{\">=\": 2020}}}}; found {}",
                  document.root().KindName()));
}

template <typename T>
bool Compare(Comparison comparison, const T& found, const T& wanted) {
  switch (comparison) {
    case Comparison::kEqual:
      return found == wanted;
    case Comparison::kNotEqual:
      return found != wanted;
    case Comparison::kLess:
      return found < wanted;
    case Comparison::kLessEqual:
      return found <= wanted;
    case Comparison::kGreater:
      return found > wanted;
    case Comparison::kGreaterEqual:
      return found >= wanted;
  }
  return false;
}

}  // namespace

Condition ParseCondition(std::string_view text, const std::vector<MetadataField>& fields) {
  const ConditionText parts = SplitCondition(text, fields);
  const MetadataField& field = FieldNamed(parts.field, fields);
  std::string value = Unquoted(parts.value);
  Condition condition{.field = field.name, .comparison = parts.comparison, .value = {}};
  if (field.type == MetadataType::kNumber) {
    condition.value = NumberOf(value, field);
  } else {
    condition.value = std::move(value);
  }
  return condition;
}

Filter FilterFromJson(std::string_view json, const std::vector<MetadataField>& fields) {
  const JsonDocument document = Parsed(json);
  Filter filter;
  std::vector<std::string_view> seen;
  for (const auto& [name, value] : RootObject(document).members()) {
    const MetadataField& field = FieldNamed(name, fields);
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      throw UsageError(fmt::format(
          "filter: field {} comes twice; write its conditions as one object", field.name));
    }
    seen.push_back(name);
    if (value.is_object()) {
      AddConditions(value, field, &filter);
    } else {
      Add({.field = field.name, .comparison = Comparison::kEqual, .value = ValueOf(value, field)},
          &filter);
    }
  }
  return filter;
}

bool Holds(const Condition& condition, const data::MetadataValue& value) {
  if (!value.present) return false;
  if (const double* const number = std::get_if<double>(&condition.value)) {
    return Compare(condition.comparison, value.number, *number);
  }
  return Compare<std::string_view>(condition.comparison, value.text,
                                   std::get<std::string>(condition.value));
}

}  // namespace tandem::index
