// Conditions of the command line and filters of JSON (index/query/filter.h): any bytes give a
// filter on known fields or a UsageError.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "index/query/filter.h"

namespace {

using namespace tandem;

void Check(const index::Filter& filter, const std::vector<data::MetadataField>& fields) {
  for (const index::Condition& condition : filter) {
    bool is_known = false;
    for (const data::MetadataField& field : fields) {
      const bool is_number = field.type == data::MetadataType::kNumber;
      is_known |= field.name == condition.field &&
                  is_number == std::holds_alternative<double>(condition.value);
    }
    if (!is_known) std::abort();
    index::Holds(condition, {.present = true, .number = 1, .text = "text"});
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<data::MetadataField> fields = {{"y", data::MetadataType::kNumber},
                                                          {"l", data::MetadataType::kString},
                                                          {"l=", data::MetadataType::kString}};
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  try {
    Check({index::ParseCondition(input, fields)}, fields);
  } catch (const UsageError&) {
  }
  try {
    Check(index::FilterFromJson(input, fields), fields);
  } catch (const UsageError&) {
  }
  return 0;
}
