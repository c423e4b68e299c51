// Makes sure that the processes of a group are about to mine the same.
#pragma once

#include <string_view>

#include "data/training_set.h"
#include "dist/process_group.h"
#include "search/mining/mining_rules.h"
#include "search/mining/mining_task.h"

namespace tandem::search {

// Compares texts, judgements and rules of all processes of `group`, and the precision of their
// searches. Where something differs all of them throw an Error that names the rank; its exit code
// is 2 for a rule, which it names by its flag of `tandem mine`, and 3 for the data. Does nothing in
// a group of one or none.
void AgreeOnMining(const data::TrainingSet& set, const MiningTask& task, const MiningRules& rules,
                   std::string_view precision, dist::ProcessGroup* group);

}  // namespace tandem::search
