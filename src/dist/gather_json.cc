#include "dist/gather_json.h"

#include <string>

#include "base/json/json_reader.h"

namespace tandem::dist {

std::vector<Json> AllGatherJson(ProcessGroup& group, const Json& own) {
  std::vector<Json> all;
  for (const std::string& text : group.AllGatherBytes(own.Dump(-1, JsonBytes::kReplace))) {
    all.push_back(ParseJson(text).Sorted());
  }
  return all;
}

}  // namespace tandem::dist
