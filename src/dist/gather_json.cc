#include "dist/gather_json.h"

#include <nlohmann/json.hpp>
#include <string>

namespace tandem::dist {

std::vector<nlohmann::json> AllGatherJson(ProcessGroup& group, const nlohmann::json& own) {
  std::vector<nlohmann::json> all;
  for (const std::string& text :
       group.AllGatherBytes(own.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))) {
    all.push_back(nlohmann::json::parse(text));
  }
  return all;
}

}  // namespace tandem::dist
