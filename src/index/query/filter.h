// Conditions on the metadata of documents.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "data/texts/metadata.h"

namespace tandem::index {

enum class Comparison { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

// Numbers compare as numbers, strings byte by byte (so that ISO dates have ranges). A document that
// lacks the field meets no condition on it.
struct Condition {
  std::string field;
  Comparison comparison = Comparison::kEqual;
  std::variant<double, std::string> value;
};

// All of them must hold; none: every document.
using Filter = std::vector<Condition>;

// "year>=2020", "lang=en", "lang!=en", "year<2000". Whether a value is a number or a string is
// decided by the index's fields. Throws UsageError for what is no condition, for a field that is
// not among `fields` (naming those that are), and for a value that is no number where one is
// wanted.
Condition ParseCondition(std::string_view text, const std::vector<data::MetadataField>& fields);

// Reads JSON: {"lang": "en", "year": {">=": 2020, "<": 2030}}, for the server. Throws as above.
Filter FilterFromJson(std::string_view json, const std::vector<data::MetadataField>& fields);

bool Holds(const Condition& condition, const data::MetadataValue& value);

}  // namespace tandem::index
