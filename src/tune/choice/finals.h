// The end of a search: averages of weights, what is lost elsewhere, the choice, and the test.
#pragma once

#include "tune/search_context.h"

namespace tandem::tune {

// Averages base and best finalist by the weights of tune.average, or, where sentinel sets are kept
// watch on, by 0.25, 0.5 and 0.75; measures all arms on these sets; chooses among them
// (tune/choice/selection.h); trains the choice again where tune.retrain says so; and measures
// choice and base on the test data, once. Each has its rows in the journal, and nothing is done
// twice.
void Finish(const SearchContext& search, const SearchPlan& plan);

}  // namespace tandem::tune
