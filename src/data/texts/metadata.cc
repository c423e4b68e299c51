#include "data/texts/metadata.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace tandem::data {
namespace {

// Splits at the last colon: a name may have colons where its type is said.
MetadataField ParseField(const std::string& flag) {
  const size_t colon = flag.rfind(':');
  MetadataField field{.name = flag.substr(0, colon), .type = MetadataType::kString};
  if (colon != std::string::npos) {
    const std::string_view type = std::string_view(flag).substr(colon + 1);
    if (type == MetadataTypeName(MetadataType::kNumber)) {
      field.type = MetadataType::kNumber;
    } else if (type != MetadataTypeName(MetadataType::kString)) {
      throw UsageError(fmt::format(
          "the field {} has the type \"{}\"; expected {}:number or {}:string", flag, type,
          field.name.empty() ? "NAME" : field.name, field.name.empty() ? "NAME" : field.name));
    }
  }
  if (field.name.empty()) {
    throw UsageError(fmt::format(
        "the field \"{}\" has no name; expected NAME, NAME:number or NAME:string", flag));
  }
  return field;
}

}  // namespace

std::string_view MetadataTypeName(MetadataType type) {
  return type == MetadataType::kNumber ? "number" : "string";
}

std::vector<MetadataField> ParseMetadataFields(const std::vector<std::string>& flags) {
  std::vector<MetadataField> fields;
  for (const std::string& flag : flags) {
    MetadataField field = ParseField(flag);
    if (std::any_of(fields.begin(), fields.end(),
                    [&](const MetadataField& known) { return known.name == field.name; })) {
      throw UsageError(fmt::format("the field {} is given twice", field.name));
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

}  // namespace tandem::data
