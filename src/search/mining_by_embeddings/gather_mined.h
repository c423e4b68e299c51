// Gathers the results of several processes that have mined.
#pragma once

#include "dist/process_group.h"
#include "search/mining/mined.h"

namespace tandem::search {

// The queries of a task that a process mines for: an even share for each process of the group, all
// of them where `group` is null.
dist::Share MiningShareOf(const MiningTask& task, const dist::ProcessGroup* group);

// Gives every process what all have mined, each for its share: what one process would have, to the
// last bit but for rounding where oneDNN multiplies (tiled_search.h). Every process of `group`
// calls it, with the same task and rules (agree_on_mining.h). Returns `own` where `group` is null.
Mined GatherMined(const MiningTask& task, Mined own, dist::ProcessGroup* group);

}  // namespace tandem::search
