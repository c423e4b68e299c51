// What a search does next, from its brackets and what its trials have come to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tune/schedule/brackets.h"

namespace tandem::tune {

// What a trial came to at a rung.
struct RungResult {
  int64_t trial = 0;            // from 1
  size_t round = 0;             // of its bracket, from 0
  std::optional<double> value;  // of the measure, higher is better; none: it could not be trained
};

// Trains a trial, of number `trial`, to the length of a round of its bracket.
struct Work {
  int64_t trial = 0;
  size_t bracket = 0;
  size_t round = 0;
  bool operator==(const Work&) const = default;
};

// Trials are numbered from 1 in the order of the brackets. Of each round the trials of the best
// values go on, as many as the bracket says; equal values by the lower number, and none that could
// not be trained. A trial leaves by its rank alone, whether or not its difference could be chance.
// None: all is done.
std::optional<Work> NextWork(const std::vector<Bracket>& brackets,
                             const std::vector<RungResult>& results);

// Trials that do not go on, ascending.
std::vector<int64_t> LeftTrials(const std::vector<Bracket>& brackets,
                                const std::vector<RungResult>& results);

// Trials that were trained in full, best first.
std::vector<int64_t> Finalists(const std::vector<Bracket>& brackets,
                               const std::vector<RungResult>& results);

}  // namespace tandem::tune
