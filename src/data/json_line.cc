#include "data/json_line.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <array>
#include <charconv>

namespace tandem::data {
namespace {

// Digits of 64-bit integers, with sign.
constexpr size_t kIntegerBytes = 24;
// No format has as many; keeps the search for keys that come twice short.
constexpr size_t kMaxKeys = 1000;

}  // namespace

struct JsonLineParser::State {
  simdjson::dom::parser parser;
  std::array<std::array<char, kIntegerBytes>, kMaxKeys> digits;  // one place per field
};

JsonLineParser::JsonLineParser() : state_(std::make_unique<State>()), fields_(kMaxKeys) {}
JsonLineParser::~JsonLineParser() = default;

namespace {

template <typename Integer>
void SetInteger(JsonField& field, std::array<char, kIntegerBytes>& digits, Integer value) {
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  field.kind = JsonField::Kind::kInteger;
  field.text = std::string_view(digits.data(), static_cast<size_t>(end - digits.data()));
}

void SetStrings(JsonField& field, simdjson::dom::array array) {
  for (simdjson::dom::element element : array) {
    if (!element.is_string()) return;  // stays kOther
    field.list.push_back(element.get_string().value_unsafe());
  }
  field.kind = JsonField::Kind::kStrings;
}

void SetValue(JsonField& field, std::array<char, kIntegerBytes>& digits,
              simdjson::dom::element value) {
  using simdjson::dom::element_type;
  field.kind = JsonField::Kind::kOther;
  field.list.clear();
  switch (value.type()) {
    case element_type::STRING:
      field.kind = JsonField::Kind::kString;
      field.text = value.get_string().value_unsafe();
      break;
    case element_type::INT64:
      SetInteger(field, digits, value.get_int64().value_unsafe());
      break;
    case element_type::UINT64:
      SetInteger(field, digits, value.get_uint64().value_unsafe());
      break;
    case element_type::ARRAY:
      SetStrings(field, value.get_array().value_unsafe());
      break;
    case element_type::NULL_VALUE:
      field.kind = JsonField::Kind::kNull;
      break;
    default:
      break;
  }
}

}  // namespace

std::span<const JsonField> JsonLineParser::Parse(const LineReader& reader, std::string_view line) {
  static_assert(LineReader::kPadding >= simdjson::SIMDJSON_PADDING);
  simdjson::dom::element root;
  // `line` is followed by readable padding, so nothing needs to be copied.
  const simdjson::error_code error =
      state_->parser.parse(line.data(), line.size(), /*realloc_if_needed=*/false).get(root);
  if (error == simdjson::UTF8_ERROR) throw reader.Error("is not valid UTF-8");
  if (error != simdjson::SUCCESS) {
    throw reader.Error(fmt::format("is not valid JSON: {}", simdjson::error_message(error)));
  }
  simdjson::dom::object object;
  if (root.get(object) != simdjson::SUCCESS) {
    throw reader.Error("is not a JSON object; expected one object per line");
  }
  used_ = 0;
  if (object.size() > kMaxKeys) {
    throw reader.Error(fmt::format("has more than {} keys", kMaxKeys));
  }
  for (const simdjson::dom::key_value_pair& pair : object) {
    if (FindField({fields_.data(), used_}, pair.key) != nullptr) {
      throw reader.Error(fmt::format("has the key {} twice", pair.key));
    }
    fields_[used_].key = pair.key;
    SetValue(fields_[used_], state_->digits[used_], pair.value);
    ++used_;
  }
  return {fields_.data(), used_};
}

const JsonField* FindField(std::span<const JsonField> fields, std::string_view key) {
  for (const JsonField& field : fields) {
    if (field.key == key) return &field;
  }
  return nullptr;
}

std::string_view KindName(JsonField::Kind kind) {
  switch (kind) {
    case JsonField::Kind::kString:
      return "a string";
    case JsonField::Kind::kInteger:
      return "an integer";
    case JsonField::Kind::kStrings:
      return "a list of strings";
    case JsonField::Kind::kNull:
      return "null";
    case JsonField::Kind::kOther:
      break;
  }
  return "neither a string nor an integer";
}

}  // namespace tandem::data
