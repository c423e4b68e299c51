// Gathers facts about processes that must agree.
#pragma once

#include <vector>

#include "base/json/json.h"
#include "dist/process_group.h"

namespace tandem::dist {

// The values of all processes, in the order of ranks. Bytes that are no UTF-8 are replaced, so that
// what differs in them only is not seen: hash such text first.
std::vector<Json> AllGatherJson(ProcessGroup& group, const Json& own);

}  // namespace tandem::dist
