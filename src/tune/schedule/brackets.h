// How many configurations are trained for how long: successive halving, then full runs.
//
// Lengths are counted in units: the shortest of `rungs` lengths is one unit, each next one three,
// and a full run 3^(rungs - 1). A trial goes on from one length to the next, so that a length costs
// only what it has more than the one before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tandem::tune {

// Of each rung a third stays (Li et al. 2018 recommend 3 or 4).
inline constexpr int64_t kEta = 3;

// Units of a full run.
int64_t FullUnits(int64_t rungs);

// One round of successive halving (Jamieson and Talwalkar 2016).
struct Rung {
  int64_t trials = 0;
  int64_t units = 0;  // the length to which they are trained
  bool operator==(const Rung&) const = default;
};
struct Bracket {
  std::vector<Rung> rungs;  // the last one has full length
  bool operator==(const Bracket&) const = default;
};

// A bracket of `trials` configurations, at least 1, that are compared at the last `rounds` of
// `rungs` lengths: of each the best third goes on, rounded down, at least one.
Bracket MakeBracket(int64_t trials, int64_t rounds, int64_t rungs);

// What its trials cost, in units.
int64_t UnitsOf(const Bracket& bracket);
int64_t TrialsOf(const std::vector<Bracket>& brackets);
// Trials that are trained in full.
int64_t FullTrialsOf(const std::vector<Bracket>& brackets);
int64_t UnitsOf(const std::vector<Bracket>& brackets);

// Hyperband (Li et al. 2018, algorithm 1) for a longest length of 3^(rungs - 1) units: the bracket
// that ends most trials early comes first, and in the last one all are trained in full. At most
// `most_trials` configurations.
std::vector<Bracket> HyperbandBrackets(int64_t rungs, int64_t most_trials);

// The brackets that a budget of `units` pays for: one of successive halving over all lengths, and
// then brackets of one trial each, which is trained in full. The first has as many trials as a full
// run has units, or as a quarter of the budget pays for where that is more, and what is left over
// beside full runs adds to them. At most `most_configurations` trials in the first, and in full:
// where the first has had them all, further full runs are of those that left it. Empty where
// `units` are less than those of a full run.
std::vector<Bracket> BracketsFor(int64_t units, int64_t rungs, int64_t most_configurations);

}  // namespace tandem::tune
