// Metadata of documents: fields of a JSON line or columns of a TSV line that a search can filter
// by.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::data {

// kScalar is a string, an integer or a boolean, as text, of what is read and not kept: groups of
// queries. A null is as a field that is not there.
enum class MetadataType { kNumber, kString, kScalar };
// Gives the name that flags and files use: "number", "string"; kScalar has none there.
std::string_view MetadataTypeName(MetadataType type);

struct MetadataField {
  std::string name;  // a key of the line, or of its object `metadata`
  MetadataType type = MetadataType::kString;
  bool operator==(const MetadataField&) const = default;
};

// "year:number" or "lang:string"; "lang" alone is a string. Throws UsageError for another type, an
// empty name, and for a name twice.
std::vector<MetadataField> ParseMetadataFields(const std::vector<std::string>& flags);

// The value of one field of one document.
struct MetadataValue {
  bool present = false;   // false: the document lacks the field (or has null there)
  double number = 0;      // finite; of MetadataType::kNumber
  std::string_view text;  // of the other types
};

}  // namespace tandem::data
