#include "text/load/json_view.h"

#include <fmt/format.h>

#include "base/error.h"

namespace tandem::text {
namespace {

// A tokenizer's numbers are ids and counts, or scores.
std::string_view KindOf(JsonElement element) {
  if (element.kind() == JsonElement::Kind::kInteger) return "an integer";
  if (element.kind() == JsonElement::Kind::kNumber) return "a fraction";
  return element.KindName();
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
  if (!element_.is_object()) FailExpected("an object");
  const std::optional<JsonElement> member = element_.Find(name);
  if (!member || member->is_null()) return {};
  return JsonView(*member, file_,
                  place_.empty() ? std::string(name) : fmt::format("{}.{}", place_, name));
}

JsonView JsonView::Member(std::string_view name) const {
  const std::optional<JsonView> member = Find(name);
  if (!member) Fail(fmt::format("\"{}\" is missing", name));
  return *member;
}

std::string_view JsonView::String() const {
  if (const auto value = element_.String()) return *value;
  FailExpected("a string");
}

int64_t JsonView::Integer() const {
  if (const auto value = element_.Integer()) return *value;
  FailExpected("an integer");
}

double JsonView::Number() const {
  if (const auto value = element_.Number()) return *value;
  FailExpected("a number");
}

bool JsonView::Boolean() const {
  if (const auto value = element_.Boolean()) return *value;
  FailExpected("true or false");
}

JsonElement::Members JsonView::Object() const {
  if (!element_.is_object()) FailExpected("an object");
  return element_.members();
}

JsonElement::Elements JsonView::Array() const {
  if (!element_.is_array()) FailExpected("an array");
  return element_.elements();
}

}  // namespace tandem::text
