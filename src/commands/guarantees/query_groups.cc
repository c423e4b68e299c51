#include "commands/guarantees/query_groups.h"

#include <fmt/format.h>

#include "base/error.h"
#include "data/formats/beir.h"
#include "data/input/text_input.h"

namespace tandem::app {

std::map<std::string, std::string> QueryGroups(const std::string& folder, const std::string& by) {
  data::Warnings warnings;
  const auto file = data::FindBeirTexts(folder, data::TextRole::kQuery);
  data::TextInput input({.inputs = {file.native()},
                         .role = data::TextRole::kQuery,
                         .fields = {{by, data::MetadataType::kScalar}}},
                        warnings);
  std::map<std::string, std::string> groups;
  data::InputText query;
  while (input.Next(&query)) {
    if (query.metadata[0].present) groups[std::string(query.id)] = query.metadata[0].text;
  }
  if (groups.empty()) {
    throw UsageError(fmt::format("{}: no query has the field {}, of its own or in `metadata`",
                                 file.native(), by));
  }
  return groups;
}

}  // namespace tandem::app
