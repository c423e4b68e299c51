// Which of the finalists to take, if any: the paired test against the base, corrected for how many
// there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tune/query_values.h"

namespace tandem::tune {

// A model that may be chosen, with its values on the validation queries.
struct Arm {
  std::string name;  // "trial 7", "soup of 3 trials", "0.5 of trial 7"
  QueryValues values;
  // The largest loss on one of the sentinel sets, 0 where it gains on all; none: not measured.
  std::optional<double> loss;
  // The arm that must be seen to gain before this one may be chosen: of a soup its best trial,
  // since its own p is that of the best of many means.
  std::optional<size_t> after = {};
};

// An arm beside the base.
struct ArmTest {
  std::string name;
  double value = 0;       // the mean over the queries
  double gain = 0;        // over the base
  double half_width = 0;  // of the interval of 95 % around `gain`: 1.96 sd / sqrt(n)
  double p = 1;           // of the paired randomisation test, two-sided
  double holm_p = 1;      // of all arms
  std::optional<double> loss;
  bool on_border = false;  // no other arm gains as much and loses as little, one of them better
  bool allowed = true;  // it loses at most as much as it may, and the arm before it is seen to gain
};

struct Selection {
  double base = 0;
  size_t queries = 0;
  std::vector<ArmTest> arms;     // in the order given
  std::optional<size_t> best;    // of the largest gain among those allowed
  std::optional<size_t> chosen;  // of the largest gain among those that are seen to gain
  // The gain that four of five samples of so many queries would show: (z(.975) + z(.8)) sd /
  // sqrt(n) of the best arm's differences (docs/tuning.md).
  double detectable = 0;
  // Queries with which a gain of kSmallGain would be seen; none: it takes more than can be counted.
  std::optional<size_t> queries_needed;
};

// The gain that sentences speak of where none is seen.
inline constexpr double kSmallGain = 0.005;
// Chance of taking a model that is no better, over all arms.
inline constexpr double kLevel = 0.05;

struct SelectionOptions {
  uint64_t seed = 1;
  int threads = 1;
  std::optional<double> most_loss;  // that an arm may have; none: any
};

// The arms are tested by eval::SignFlipTest and Holm's correction; an arm is seen to gain where its
// corrected p is below kLevel and its gain above 0. All have the queries of the base. Throws
// DataError where they have others.
Selection Select(const QueryValues& base, const std::vector<Arm>& arms,
                 const SelectionOptions& options);

// Below it four decimals would show a p as 0.
inline constexpr double kLeastShownProbability = 0.0001;
// "p 0.0123", "p below 0.0001".
std::string ProbabilityText(double p);

// "train: trial 7 gains +0.0312 +- 0.0080 ..." or "do not train: ...".
std::string VerdictText(const Selection& selection);

}  // namespace tandem::tune
