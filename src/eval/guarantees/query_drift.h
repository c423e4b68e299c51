// Says whether the queries that come now are still like those that a guarantee was calibrated on,
// by the best score of each.
//
//   QueryDrift drift(best_scores_of_the_calibration);
//   drift.Add(best_score);                      // of every query
//   if (drift.alarm()) ...                      // the promise was made for other queries
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"

namespace tandem::eval {

// An exchangeability martingale. Every score gets a conformal p-value among all before it, those of
// the calibration included: with n of them, `below` of which are lower and `equal` as high,
//
//   p = (below + u (equal + 1)) / (n + 1),   u uniform in (0, 1).
//
// As long as all scores are exchangeable, the p are independent and uniform, so that nobody can win
// by betting on them. Six power bets do, e x^(e - 1): on p and on 1 - p with e = 1/2 and 4/5, which
// win where scores become lower or higher, and on |2 p - 1| and 1 - |2 p - 1| with e = 1/2, which
// win where they gather in the middle, as where one query comes again and again, or at both ends.
// One keeps its capital; after each query a hundredth of the capital is dealt out anew, so that a
// change is seen soon however late it comes. The capital starts as 1. The probability that it ever
// reaches 100, for exchangeable scores and however many there are, is at most 1/100 (Ville).
// Source: Vovk, Nouretdinov, Gammerman 2003, "Testing exchangeability on-line", for the power
// martingale; Vovk et al. 2021, "Retrain or not retrain: conformal test martingales for
// change-point detection", for dealing out anew (their simple jumper, J = 0.01). Differs: of the
// bets those on |2 p - 1| are ours; scores are compared after rounding to 19 bits, so that memory
// does not grow (2 MB); rounded scores are exchangeable where scores are, and u breaks their ties.
class QueryDrift {
 public:
  static constexpr double kAlarm = 100;
  static constexpr size_t kWindow = 1000;  // queries that distance() looks at

  // `calibration` [n] are single-precision scores in any order, none of them NaN; n may be 0.
  explicit QueryDrift(std::span<const float> calibration, uint64_t seed = 1);

  // `best` is no NaN.
  void Add(float best);

  size_t queries() const { return queries_; }
  // The capital now and at its highest. Infinity where a double does not hold it.
  double capital() const;
  double highest_capital() const;
  // Whether the capital has ever reached kAlarm.
  bool alarm() const;
  // Kolmogorov-Smirnov: the largest difference between the shares of scores below some score, of
  // the last kWindow queries and of the calibration. From 0 to 1; for people, not a test. 0 where
  // either has none.
  double distance() const;

 private:
  static constexpr size_t kBets = 7;

  // The p-value of a score among all that were counted, which it then joins.
  double Rank(float score);

  std::vector<float> calibration_;  // ascending
  std::vector<uint32_t> counts_;    // a Fenwick tree over rounded scores
  size_t counted_ = 0;
  std::array<double, kBets> shares_{};  // of the capital; their sum is 1
  double log_capital_ = 0;
  double log_highest_ = 0;
  RandomStream random_;
  std::vector<float> window_;  // the last queries' scores, a ring
  size_t queries_ = 0;
};

}  // namespace tandem::eval
