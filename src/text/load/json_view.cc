#include "text/load/json_view.h"

#include <fmt/format.h>

#include "base/error.h"

namespace tandem::text {
namespace {

std::string_view KindOf(simdjson::dom::element element) {
  using simdjson::dom::element_type;
  switch (element.type()) {
    case element_type::ARRAY:
      return "an array";
    case element_type::OBJECT:
      return "an object";
    case element_type::STRING:
      return "a string";
    case element_type::BOOL:
      return "true or false";
    case element_type::NULL_VALUE:
      return "null";
    case element_type::DOUBLE:
      return "a fraction";
    default:
      return "an integer";
  }
}

}  // namespace

void JsonView::Fail(std::string_view message) const {
  throw ModelError(file_, "",
                   place_.empty() ? std::string(message) : fmt::format("{}: {}", place_, message));
}

void JsonView::FailExpected(std::string_view expected) const {
  Fail(fmt::format("expected {}, found {}", expected, KindOf(element_)));
}

std::optional<JsonView> JsonView::Find(std::string_view name) const {
  simdjson::dom::element member;
  if (Object().at_key(name).get(member) != simdjson::SUCCESS || member.is_null()) return {};
  return JsonView(member, file_,
                  place_.empty() ? std::string(name) : fmt::format("{}.{}", place_, name));
}

JsonView JsonView::Member(std::string_view name) const {
  const std::optional<JsonView> member = Find(name);
  if (!member) Fail(fmt::format("\"{}\" is missing", name));
  return *member;
}

std::string_view JsonView::String() const {
  std::string_view value;
  if (element_.get(value) != simdjson::SUCCESS) FailExpected("a string");
  return value;
}

int64_t JsonView::Integer() const {
  int64_t value = 0;
  if (element_.get(value) != simdjson::SUCCESS) FailExpected("an integer");
  return value;
}

double JsonView::Number() const {
  double value = 0;
  if (element_.get(value) != simdjson::SUCCESS) FailExpected("a number");
  return value;
}

bool JsonView::Boolean() const {
  bool value = false;
  if (element_.get(value) != simdjson::SUCCESS) FailExpected("true or false");
  return value;
}

simdjson::dom::object JsonView::Object() const {
  simdjson::dom::object value;
  if (element_.get(value) != simdjson::SUCCESS) FailExpected("an object");
  return value;
}

simdjson::dom::array JsonView::Array() const {
  simdjson::dom::array value;
  if (element_.get(value) != simdjson::SUCCESS) FailExpected("an array");
  return value;
}

}  // namespace tandem::text
