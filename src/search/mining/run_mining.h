// Mining from the ranking of any system, given as a run.
#pragma once

#include <string_view>

#include "data/judgements/run.h"
#include "search/mining/mined.h"

namespace tandem::search {

// Scores and ranks come from the run, ties by document id, descending in bytes. A query whose id
// has no results has no negatives; with margins, neither has one with a positive that the run
// lacks, which is below all that it has. Where there are copies, the best counts. Warns about
// queries without results and about ends of the range that no result reaches. `file` names the run
// in messages. Throws DataError for a document that the corpus lacks, and where the run knows none
// of the queries; UsageError where the range begins after the last result of every query.
Mined MineFromRun(const data::TrainingSet& set, const MiningTask& task, const MiningRules& rules,
                  const data::Run& run, std::string_view file);

}  // namespace tandem::search
