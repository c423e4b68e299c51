#include "base/json/json.h"

#include <fmt/format.h>

#include <algorithm>

namespace tandem {
namespace {

[[noreturn]] void FailKind(const Json& found, std::string_view expected) {
  throw JsonError(fmt::format("{} is expected, not {}", expected, found.type_name()));
}

bool IsPair(const Json& element) {
  return element.is_array() && element.size() == 2 && element[0].is_string();
}

bool EqualNumbers(const Json& a, const Json& b) {
  if (a.is_number_float() || b.is_number_float()) return a.get<double>() == b.get<double>();
  const auto is_negative = [](const Json& n) {
    return !n.is_number_unsigned() && n.get<int64_t>() < 0;
  };
  return is_negative(a) == is_negative(b) && a.get<uint64_t>() == b.get<uint64_t>();
}

bool EqualObjects(const Json& a, const Json& b) {
  return a.size() == b.size() &&
         std::all_of(a.items().begin(), a.items().end(), [&](const JsonMember& member) {
           const Json* const other = b.Find(member.key);
           return other != nullptr && *other == member.value;
         });
}

}  // namespace

Json::Json() noexcept = default;
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept : value_(std::exchange(other.value_, std::monostate())) {}
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept {
  // `other` may lie inside this value.
  auto taken = std::exchange(other.value_, std::monostate());
  value_ = std::move(taken);
  return *this;
}
Json::~Json() = default;

Json::Json(Scalar<bool> scalar) noexcept : value_(scalar.value) {}
Json::Json(Scalar<int64_t> scalar) noexcept : value_(scalar.value) {}
Json::Json(Scalar<uint64_t> scalar) noexcept : value_(scalar.value) {}
Json::Json(Scalar<double> scalar) noexcept : value_(scalar.value) {}
Json::Json(std::string text) : value_(std::move(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(const char* text) : value_(std::string(text)) {}

Json::Json(std::initializer_list<Json> list) {
  if (!std::all_of(list.begin(), list.end(), IsPair)) {
    value_ = Elements(list);
    return;
  }
  Members& members = value_.emplace<Members>();
  members.reserve(list.size());
  for (const Json& pair : list) members.push_back({pair[0].text(), pair[1]});
}

Json Json::array() {
  Json json;
  json.value_ = Elements();
  return json;
}

Json Json::array(std::initializer_list<Json> list) {
  Json json;
  json.value_ = Elements(list);
  return json;
}

Json Json::object() {
  Json json;
  json.value_ = Members();
  return json;
}

std::string_view Json::type_name() const {
  constexpr std::string_view kNames[] = {"null",   "boolean", "number", "number",
                                         "number", "string",  "array",  "object"};
  return kNames[value_.index()];
}

const std::string& Json::text() const {
  if (const auto* text = std::get_if<std::string>(&value_)) return *text;
  FailKind(*this, "a string");
}

bool Json::Boolean() const {
  if (const auto* value = std::get_if<bool>(&value_)) return *value;
  FailKind(*this, "true or false");
}

int64_t Json::Integer() const {
  if (const auto* value = std::get_if<int64_t>(&value_)) return *value;
  if (const auto* value = std::get_if<uint64_t>(&value_)) return static_cast<int64_t>(*value);
  if (const auto* value = std::get_if<double>(&value_)) return static_cast<int64_t>(*value);
  FailKind(*this, "a number");
}

uint64_t Json::Natural() const {
  if (const auto* value = std::get_if<double>(&value_)) return static_cast<uint64_t>(*value);
  return static_cast<uint64_t>(Integer());
}

double Json::Number() const {
  if (const auto* value = std::get_if<double>(&value_)) return *value;
  if (const auto* value = std::get_if<uint64_t>(&value_)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<int64_t>(&value_)) return static_cast<double>(*value);
  FailKind(*this, "a number");
}

size_t Json::size() const {
  if (const auto* elements = std::get_if<Elements>(&value_)) return elements->size();
  if (const auto* members = std::get_if<Members>(&value_)) return members->size();
  return is_null() ? 0 : 1;
}

const Json* Json::begin() const {
  const auto* elements = std::get_if<Elements>(&value_);
  return elements == nullptr ? nullptr : elements->data();
}

const Json* Json::end() const {
  const auto* elements = std::get_if<Elements>(&value_);
  return elements == nullptr ? nullptr : elements->data() + elements->size();
}

Json* Json::begin() { return const_cast<Json*>(std::as_const(*this).begin()); }
Json* Json::end() { return const_cast<Json*>(std::as_const(*this).end()); }

const Json& Json::at(size_t index) const {
  const auto* elements = std::get_if<Elements>(&value_);
  if (elements == nullptr) FailKind(*this, "a list");
  if (index >= elements->size()) {
    throw JsonError(fmt::format("a list has {} values; more are expected", elements->size()));
  }
  return (*elements)[index];
}

void Json::push_back(Json value) {
  if (is_null()) value_ = Elements();
  auto* elements = std::get_if<Elements>(&value_);
  if (elements == nullptr) FailKind(*this, "a list");
  elements->push_back(std::move(value));
}

const Json::Members& Json::items() const {
  static const Members kNone;
  const auto* members = std::get_if<Members>(&value_);
  return members == nullptr ? kNone : *members;
}

Json::Members& Json::items() {
  if (is_null()) value_ = Members();
  auto* members = std::get_if<Members>(&value_);
  if (members == nullptr) FailKind(*this, "an object");
  return *members;
}

const Json* Json::Find(std::string_view key) const {
  for (const JsonMember& member : items()) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

Json* Json::Find(std::string_view key) { return const_cast<Json*>(std::as_const(*this).Find(key)); }

const Json* Json::Find(std::initializer_list<std::string_view> path) const {
  const Json* found = this;
  for (const std::string_view key : path) {
    if (found != nullptr) found = found->Find(key);
  }
  return found;
}

const Json& Json::at(std::string_view key) const {
  if (const Json* const found = Find(key)) return *found;
  if (!is_object()) FailKind(*this, fmt::format("an object with `{}`", key));
  throw JsonError(fmt::format("`{}` is missing", key));
}

Json& Json::operator[](std::string_view key) {
  Members& members = items();
  if (Json* const found = Find(key)) return *found;
  return members.emplace_back(JsonMember{std::string(key), Json()}).value;
}

void Json::Append(std::string key, Json value) {
  items().push_back({std::move(key), std::move(value)});
}

void Json::Update(const Json& other) {
  for (const auto& [key, value] : other.items()) (*this)[key] = value;
}

void Json::erase(std::string_view key) {
  std::erase_if(items(), [&](const JsonMember& member) { return member.key == key; });
}

void Json::SortMembers() {
  for (Json& element : *this) element.SortMembers();
  if (!is_object()) return;
  for (JsonMember& member : items()) member.value.SortMembers();
  std::sort(items().begin(), items().end(),
            [](const JsonMember& a, const JsonMember& b) { return a.key < b.key; });
}

Json Json::Sorted() const {
  Json sorted = *this;
  sorted.SortMembers();
  return sorted;
}

bool operator==(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return EqualNumbers(a, b);
  if (a.value_.index() != b.value_.index()) return false;
  if (a.is_object()) return EqualObjects(a, b);
  if (a.is_array()) return std::equal(a.begin(), a.end(), b.begin(), b.end());
  if (a.is_string()) return a.text() == b.text();
  return a.is_null() || a.get<bool>() == b.get<bool>();
}

}  // namespace tandem
