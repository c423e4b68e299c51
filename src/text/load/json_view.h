// Reads a large JSON file whose shape is known, with errors that name file and place. Only source
// files of this room include it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/json/json_document.h"

namespace tandem::text {

// A value in a document and where it is ("model.vocab"). Every function that expects something
// throws ModelError `FILE: PLACE: expected X, found Y`.
class JsonView {
 public:
  JsonView(JsonElement element, std::string_view file, std::string place)
      : element_(element), file_(file), place_(std::move(place)) {}

  // The member of an object; nothing where it is absent or null.
  std::optional<JsonView> Find(std::string_view name) const;
  // The member of an object, which must be there and not null.
  JsonView Member(std::string_view name) const;

  std::string_view String() const;
  int64_t Integer() const;
  double Number() const;  // an integer, too
  bool Boolean() const;
  // Calls `function(JsonView)` for each element of an array.
  template <typename Function>
  void ForEachElement(const Function& function) const {
    size_t index = 0;
    for (const JsonElement element : Array()) {
      function(JsonView(element, file_, place_ + "[" + std::to_string(index++) + "]"));
    }
  }
  // The members of an object in the order of the file, repeated names included.
  JsonElement::Members Object() const;
  JsonElement::Elements Array() const;

  std::string_view file() const { return file_; }
  const std::string& place() const { return place_; }
  [[noreturn]] void Fail(std::string_view message) const;

 private:
  [[noreturn]] void FailExpected(std::string_view expected) const;

  JsonElement element_;
  std::string_view file_;
  std::string place_;
};

}  // namespace tandem::text
