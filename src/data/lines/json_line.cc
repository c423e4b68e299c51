#include "data/lines/json_line.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "base/json/json_problem.h"

namespace tandem::data {
namespace {

// Digits of 64-bit integers, with sign.
constexpr size_t kIntegerBytes = 24;
// No format has as many keys. The limit bounds the search for keys that come twice, which compares
// all pairs.
constexpr size_t kMaxKeys = 1000;

// The decimal digits of a line's integers. Their addresses do not change when more are added.
class Digits {
 public:
  void Clear() { used_ = 0; }
  template <typename Integer>
  std::string_view Write(Integer value) {
    if (used_ == places_.size()) places_.emplace_back();
    std::array<char, kIntegerBytes>& place = places_[used_++];
    const auto end = std::to_chars(place.data(), place.data() + place.size(), value).ptr;
    return {place.data(), static_cast<size_t>(end - place.data())};
  }

 private:
  std::deque<std::array<char, kIntegerBytes>> places_;
  size_t used_ = 0;
};

}  // namespace

struct JsonLineParser::State {
  simdjson::dom::parser parser;
  simdjson::dom::object root;  // of the last line
  std::string fitting;         // a line whose numbers the parser does not hold
  Digits digits;
  std::vector<std::string> passed_over;
};

JsonLineParser::JsonLineParser(std::vector<std::string> passed_over)
    : state_(std::make_unique<State>()), fields_(kMaxKeys) {
  state_->passed_over = std::move(passed_over);
}
JsonLineParser::~JsonLineParser() = default;

namespace {

using Kind = JsonField::Kind;

bool ReadStrings(simdjson::dom::array array, std::vector<std::string_view>& list) {
  for (simdjson::dom::element element : array) {
    if (!element.is_string()) return false;
    list.push_back(element.get_string().value_unsafe());
  }
  return true;
}

bool ReadNumbers(simdjson::dom::array array, std::vector<double>& numbers) {
  for (simdjson::dom::element element : array) {
    double value = 0;
    if (element.get(value) != simdjson::SUCCESS) return false;
    numbers.push_back(value);
  }
  return true;
}

bool ReadNumberLists(simdjson::dom::array array, std::vector<std::vector<double>>& lists) {
  for (simdjson::dom::element element : array) {
    simdjson::dom::array inner;
    lists.emplace_back();
    if (element.is_null()) continue;
    if (element.get(inner) != simdjson::SUCCESS) return false;
    if (!ReadNumbers(inner, lists.back())) return false;
  }
  return true;
}

// Fields of a line's object, or of an object in one of its lists.
class FieldReader {
 public:
  FieldReader(Digits& digits, std::span<const std::string> passed_over)
      : digits_(digits), passed_over_(passed_over) {}

  bool IsPassedOver(std::string_view key) const {
    return std::find(passed_over_.begin(), passed_over_.end(), key) != passed_over_.end();
  }

  void Set(simdjson::dom::key_value_pair pair, JsonField& field) {
    field.key = pair.key;
    SetValue(pair.value, field);
  }

 private:
  void SetValue(simdjson::dom::element value, JsonField& field) {
    using simdjson::dom::element_type;
    field.kind = Kind::kOther;
    switch (value.type()) {
      case element_type::STRING:
        field.kind = Kind::kString;
        field.text = value.get_string().value_unsafe();
        break;
      case element_type::INT64:
        field.kind = Kind::kInteger;
        field.text = digits_.Write(value.get_int64().value_unsafe());
        field.number = static_cast<double>(value.get_int64().value_unsafe());
        break;
      case element_type::UINT64:
        field.kind = Kind::kInteger;
        field.text = digits_.Write(value.get_uint64().value_unsafe());
        field.number = static_cast<double>(value.get_uint64().value_unsafe());
        break;
      case element_type::DOUBLE:
        field.kind = Kind::kNumber;
        field.number = value.get_double().value_unsafe();
        break;
      case element_type::BOOL:
        field.kind = Kind::kBoolean;
        field.number = value.get_bool().value_unsafe() ? 1 : 0;
        break;
      case element_type::ARRAY:
        field.kind = SetList(value.get_array().value_unsafe(), field);
        break;
      case element_type::NULL_VALUE:
        field.kind = Kind::kNull;
        break;
      default:
        break;
    }
  }

  Kind SetList(simdjson::dom::array array, JsonField& field) {
    field.list.clear();
    field.numbers.clear();
    field.values.clear();
    field.number_lists.clear();
    field.objects.clear();
    if (array.begin() == array.end()) return Kind::kStrings;
    const simdjson::dom::element first = FirstValue(array);
    if (first.is_string() && ReadStrings(array, field.list)) return Kind::kStrings;
    if (first.is_number() && ReadNumbers(array, field.numbers)) return Kind::kNumbers;
    if (first.is_array() && ReadNumberLists(array, field.number_lists)) return Kind::kNumberLists;
    if (first.is_object() && ReadObjects(array, field.objects)) return Kind::kObjects;
    return ReadValues(array, field.values) ? Kind::kValues : Kind::kOther;
  }

  // The first element that is not null, or a null.
  static simdjson::dom::element FirstValue(simdjson::dom::array array) {
    for (simdjson::dom::element element : array) {
      if (!element.is_null()) return element;
    }
    return *array.begin();
  }

  bool ReadValues(simdjson::dom::array array, std::vector<JsonField>& values) {
    for (simdjson::dom::element element : array) {
      if (element.is_array() || element.is_object()) return false;
      SetValue(element, values.emplace_back());
    }
    return true;
  }

  bool ReadObjects(simdjson::dom::array array, std::vector<JsonField::Object>& objects) {
    for (simdjson::dom::element element : array) {
      simdjson::dom::object object;
      JsonField::Object& fields = objects.emplace_back();
      if (element.is_null()) continue;
      if (element.get(object) != simdjson::SUCCESS || object.size() > kMaxKeys) return false;
      for (const simdjson::dom::key_value_pair& pair : object) {
        if (IsPassedOver(pair.key)) continue;
        if (FindField(fields, pair.key) != nullptr) return false;
        JsonField field;
        Set(pair, field);
        fields.push_back(std::move(field));
      }
    }
    return true;
  }

  Digits& digits_;
  std::span<const std::string> passed_over_;
};

// Reads the members of `object` into the first of `fields` and returns how many there are. Throws
// DataError for more than kMaxKeys and for a key that comes twice.
size_t ReadObject(const LineReader& reader, simdjson::dom::object object, FieldReader& field_reader,
                  std::span<JsonField> fields) {
  if (object.size() > kMaxKeys) throw reader.Error(fmt::format("has more than {} keys", kMaxKeys));
  size_t used = 0;
  for (const simdjson::dom::key_value_pair& pair : object) {
    if (field_reader.IsPassedOver(pair.key)) continue;
    if (FindField(fields.subspan(0, used), pair.key) != nullptr) {
      throw reader.Error(fmt::format("has the key {} twice", pair.key));
    }
    field_reader.Set(pair, fields[used]);
    ++used;
  }
  return used;
}

}  // namespace

std::span<const JsonField> JsonLineParser::Parse(const LineReader& reader, std::string_view line) {
  static_assert(LineReader::kPadding >= simdjson::SIMDJSON_PADDING);
  simdjson::dom::element root;
  // `line` is followed by readable padding, so nothing needs to be copied.
  simdjson::error_code error =
      state_->parser.parse(line.data(), line.size(), /*realloc_if_needed=*/false).get(root);
  if (error != simdjson::SUCCESS) {
    if (std::optional<std::string> fitting = WithNumbersThatFit(line)) {
      state_->fitting = *std::move(fitting);
      error = state_->parser.parse(state_->fitting).get(root);
    }
  }
  if (error != simdjson::SUCCESS || root.get(state_->root) != simdjson::SUCCESS) {
    throw reader.Error(JsonLineProblem(line, {.file = reader.file(),
                                              .has_end = reader.has_line_end(),
                                              .is_first = reader.line_number() == 1}));
  }
  state_->digits.Clear();
  FieldReader field_reader(state_->digits, state_->passed_over);
  used_ = ReadObject(reader, state_->root, field_reader, fields_);
  return {fields_.data(), used_};
}

std::span<const JsonField> JsonLineParser::Members(const LineReader& reader, std::string_view key) {
  simdjson::dom::element found;
  if (state_->root[key].get(found) != simdjson::SUCCESS || found.is_null()) return {};
  simdjson::dom::object object;
  if (found.get(object) != simdjson::SUCCESS) {
    throw reader.Error(fmt::format("\"{}\" is no object; expected one", key));
  }
  if (members_.size() < object.size()) members_.resize(object.size());
  FieldReader field_reader(state_->digits, state_->passed_over);
  return {members_.data(), ReadObject(reader, object, field_reader, members_)};
}

const JsonField* FindField(std::span<const JsonField> fields, std::string_view key) {
  for (const JsonField& field : fields) {
    if (field.key == key) return &field;
  }
  return nullptr;
}

std::string_view KindName(JsonField::Kind kind) {
  switch (kind) {
    case Kind::kString:
      return "a string";
    case Kind::kInteger:
      return "an integer";
    case Kind::kNumber:
      return "a number";
    case Kind::kBoolean:
      return "true or false";
    case Kind::kStrings:
      return "a list of strings";
    case Kind::kNumbers:
      return "a list of numbers";
    case Kind::kValues:
      return "a list of values that are not all strings or all numbers";
    case Kind::kNumberLists:
      return "a list of lists of numbers";
    case Kind::kObjects:
      return "a list of objects";
    case Kind::kNull:
      return "null";
    case Kind::kOther:
      break;
  }
  return "neither a string nor an integer";
}

}  // namespace tandem::data
