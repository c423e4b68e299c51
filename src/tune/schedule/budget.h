// What a search may cost, and the brackets that it pays for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tune/schedule/brackets.h"

namespace tandem::tune {

struct Budget {
  double seconds = 0;  // > 0: of wall clock
  int64_t steps = 0;   // > 0: of all trials together
  bool operator==(const Budget&) const = default;
};

// Reads "90s", "30m", "2h" or "5000 steps". Throws UsageError.
Budget ParseBudget(std::string_view text);

// What the parts of a search take, as measured before it begins. Lengths are those of the recipe as
// it is; configurations of other lengths count by `length_factor`, their mean length over it.
struct SearchCost {
  int64_t steps = 1;  // of a full run
  double step_seconds = 0;
  double setup_seconds = 0;       // of each time that a trial is taken up
  double validation_seconds = 0;  // of one validation
  double length_factor = 1;
  // [i] is how many of the first i + 1 trials validate the base; empty: all do.
  std::span<const int64_t> base_validations = {};
};

// Seconds of all trials: steps, a validation for each unit, and taking trials up.
double SecondsOf(const std::vector<Bracket>& brackets, int64_t rungs, const SearchCost& cost);
// Steps of all trials.
int64_t StepsOf(const std::vector<Bracket>& brackets, int64_t rungs, const SearchCost& cost);

// The brackets that the budget pays for, of at most `most_configurations` (BracketsFor). Throws
// UsageError where it does not pay for one run in full.
std::vector<Bracket> BracketsWithin(const Budget& budget, int64_t rungs, const SearchCost& cost,
                                    int64_t most_configurations);

}  // namespace tandem::tune
