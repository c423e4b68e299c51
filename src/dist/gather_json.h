// What processes say of themselves, for those that must be alike.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "dist/process_group.h"

namespace tandem::dist {

// The values of all processes, in the order of ranks. Bytes that are no UTF-8 are replaced, so that
// what differs in them only is not seen: hash such text first.
std::vector<nlohmann::json> AllGatherJson(ProcessGroup& group, const nlohmann::json& own);

}  // namespace tandem::dist
