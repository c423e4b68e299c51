#include "base/json/json_document.h"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/json/json_problem.h"

namespace tandem {
namespace {

namespace dom = simdjson::dom;

// The parser's types hold a document and a place in it, nothing else.
template <typename T, typename Place>
T As(Place place) {
  return std::bit_cast<T>(place);
}

template <typename T>
std::optional<T> Get(dom::element element) {
  T value;
  return element.get(value) == simdjson::SUCCESS ? std::optional(value) : std::nullopt;
}

}  // namespace

JsonElement::Kind JsonElement::kind() const {
  switch (As<dom::element>(place_).type()) {
    case dom::element_type::NULL_VALUE:
      return Kind::kNull;
    case dom::element_type::BOOL:
      return Kind::kBoolean;
    case dom::element_type::INT64:
    case dom::element_type::UINT64:
      return Kind::kInteger;
    case dom::element_type::DOUBLE:
      return Kind::kNumber;
    case dom::element_type::STRING:
      return Kind::kString;
    case dom::element_type::ARRAY:
      return Kind::kArray;
    case dom::element_type::OBJECT:
      break;
  }
  return Kind::kObject;
}

std::string_view JsonElement::KindName() const {
  switch (kind()) {
    case Kind::kNull:
      return "null";
    case Kind::kBoolean:
      return "a boolean";
    case Kind::kString:
      return "a string";
    case Kind::kArray:
      return "an array";
    case Kind::kObject:
      return "an object";
    case Kind::kInteger:
    case Kind::kNumber:
      break;
  }
  return "a number";
}

std::optional<bool> JsonElement::Boolean() const { return Get<bool>(As<dom::element>(place_)); }
std::optional<int64_t> JsonElement::Integer() const {
  return kind() == Kind::kInteger ? Get<int64_t>(As<dom::element>(place_)) : std::nullopt;
}
std::optional<uint64_t> JsonElement::Natural() const {
  return kind() == Kind::kInteger ? Get<uint64_t>(As<dom::element>(place_)) : std::nullopt;
}
std::optional<double> JsonElement::Number() const { return Get<double>(As<dom::element>(place_)); }
std::optional<std::string_view> JsonElement::String() const {
  return Get<std::string_view>(As<dom::element>(place_));
}

std::string JsonElement::Minified() const { return simdjson::to_string(As<dom::element>(place_)); }

JsonElement::Elements JsonElement::elements() const {
  const auto array = Get<dom::array>(As<dom::element>(place_));
  if (!array) return {};
  return {std::bit_cast<Place>(array->begin()), std::bit_cast<Place>(array->end())};
}

JsonElement::Members JsonElement::members() const {
  const auto object = Get<dom::object>(As<dom::element>(place_));
  if (!object) return {};
  return {std::bit_cast<Place>(object->begin()), std::bit_cast<Place>(object->end())};
}

std::optional<JsonElement> JsonElement::Find(std::string_view key) const {
  dom::element found;
  const auto object = Get<dom::object>(As<dom::element>(place_));
  if (!object || object->at_key(key).get(found) != simdjson::SUCCESS) return std::nullopt;
  return JsonElement(std::bit_cast<Place>(found));
}

std::optional<JsonElement> JsonElement::At(size_t index) const {
  dom::element found;
  const auto array = Get<dom::array>(As<dom::element>(place_));
  if (!array || array->at(index).get(found) != simdjson::SUCCESS) return std::nullopt;
  return JsonElement(std::bit_cast<Place>(found));
}

JsonElement::Elements::Elements(Place begin, Place end) {
  begin_.place_ = begin;
  end_.place_ = end;
}

JsonElement::Elements::Iterator& JsonElement::Elements::Iterator::operator++() {
  auto at = As<dom::array::iterator>(place_);
  place_ = std::bit_cast<Place>(++at);
  return *this;
}

JsonElement::Members::Members(Place begin, Place end) {
  begin_.place_ = begin;
  end_.place_ = end;
}

JsonElement::Members::Iterator& JsonElement::Members::Iterator::operator++() {
  auto at = As<dom::object::iterator>(place_);
  place_ = std::bit_cast<Place>(++at);
  return *this;
}

JsonElementMember JsonElement::Members::Iterator::operator*() const {
  const auto at = As<dom::object::iterator>(place_);
  return {at.key(), JsonElement(std::bit_cast<Place>(at.value()))};
}

struct JsonDocument::State {
  // Copies the text that it parses. Throws JsonLevelsError for a text of more than `most_levels`.
  bool Parse(std::string_view text, size_t most_levels) {
    const simdjson::padded_string padded(text);
    const bool copied = padded.size() == text.size() && padded.data() != nullptr;
    if (!copied && !text.empty()) throw MemoryError(text.size());
    // The parser counts one level more.
    simdjson::error_code error = parser.allocate(std::max<size_t>(text.size(), 1), most_levels + 1);
    if (!error) error = parser.parse(padded).get(root);
    if (error == simdjson::MEMALLOC) throw MemoryError(0);
    if (error == simdjson::DEPTH_ERROR) throw JsonLevelsError(most_levels);
    return !error;
  }

  dom::parser parser;
  dom::element root;
};

JsonDocument::JsonDocument(std::string_view text, size_t most_levels)
    : state_(std::make_unique<State>()) {
  if (state_->Parse(text, most_levels)) return;
  const std::optional<std::string> fitting = WithNumbersThatFit(text);
  if (!fitting || !state_->Parse(*fitting, most_levels)) throw JsonTextError(JsonProblem(text));
}

std::optional<JsonDocument> JsonDocument::ParseStrictly(std::string_view text, size_t most_levels) {
  auto state = std::make_unique<State>();
  if (!state->Parse(text, most_levels)) return std::nullopt;
  return JsonDocument(std::move(state));
}

JsonDocument::JsonDocument(std::unique_ptr<State> state) : state_(std::move(state)) {}
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;
JsonDocument::~JsonDocument() = default;

JsonElement JsonDocument::root() const {
  return JsonElement(std::bit_cast<JsonElement::Place>(state_->root));
}

}  // namespace tandem
