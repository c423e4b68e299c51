// Says whether two systems differ by more than chance, from one value of each query and system.
//
//   const TestResult test = SignFlipTest(differences, {.seed = 1, .threads = 8});
//   const std::optional<double> effect = CohensDz(differences);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tandem::eval {

// Sign patterns where nobody gives another number, so that all of the program prints one p.
inline constexpr size_t kUsualPermutations = 100'000;

struct TestOptions {
  uint64_t seed = 0;
  size_t permutations = kUsualPermutations;  // at least 1
  int threads = 1;
};

struct TestResult {
  double p_value = 1;
  size_t permutations = 0;  // looked at
  bool exact = false;       // all there are: p is the share of them, nothing was drawn
};

// The paired two-sided randomisation test of the mean (Fisher 1935; Smucker et al. 2007): if the
// systems were the same, each query's difference could as well have the other sign. p is the share
// of sign patterns whose mean is at least as far from 0 as the one observed. Where all patterns of
// the differences that are not 0 are at most `permutations`, all are looked at; else so many are
// drawn, and p = (1 + as far) / (1 + permutations), because the pattern observed is one of them
// (Phipson and Smyth 2010). Means are as far where they are equal but for 10^-12 of the sum of the
// differences' sizes. The same seed gives the same p, whatever the number of threads. Without a
// difference that is not 0, p is 1. Throws NumericError for a difference that is not finite.
TestResult SignFlipTest(std::span<const double> differences, const TestOptions& options);

// Cohen's d_z: the mean of the differences over their standard deviation (with n - 1). Gives
// nothing for fewer than two differences and where all are the same.
std::optional<double> CohensDz(std::span<const double> differences);

// Holm's step-down adjustment (1979), in the order of `p_values`: each p adjusted so that, compared
// with a level, the chance of any wrong finding among all is at most that level.
std::vector<double> HolmAdjusted(std::span<const double> p_values);

}  // namespace tandem::eval
