// Trains the trials of a plan, each to the lengths that it reaches.
#pragma once

#include <vector>

#include "tune/schedule/halving.h"
#include "tune/search_context.h"

namespace tandem::tune {

// What the journal's rows "rung" and "failed" say.
std::vector<RungResult> ResultsOf(const Journal& journal);

// Does all the work of the plan that the journal does not say is done; writes a row for each trial
// at each length. Configurations that the plan leaves open are drawn when their turn comes. A trial
// that cannot be trained, but the first, which is the recipe as it is, is warned of and ranks last.
// Checkpoints of trials that do not go on are removed. Throws Interrupted where the search is asked
// to stop.
void TrainTrials(const SearchContext& search, SearchPlan& plan);

}  // namespace tandem::tune
