// How a measure changes from one evaluation to another of the same queries, and how probable that
// is by chance: the test of `tandem compare`, on the values that the records keep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "report/page/page.h"
#include "report/records/evaluation_record.h"
#include "report/verdict/recommendation.h"

namespace tandem::report {

struct PairedChange {
  size_t queries = 0;  // with a value in both
  size_t gained = 0;
  size_t lost = 0;
  double first = 0;  // means over these queries
  double second = 0;
  // Of the paired randomisation test (eval/significance/significance.h), queries in the order of
  // their ids, as eval::Compare takes them: with the same seed both have the same p.
  double p = 1;
  bool exact = false;                 // every sign pattern was looked at
  std::optional<double> effect_size;  // Cohen's d_z

  bool seen() const;  // p is below the level from which on a difference is more than chance
};

// None where the values of single queries were not kept, or of other queries, in any order.
std::optional<PairedChange> ChangeOf(const EvaluationRecord& a, const EvaluationRecord& b,
                                     const std::string& measure, uint64_t seed);

// "12 gained, 8 lost; p = 0.2969"; "" where there is no change to tell of.
std::string QueriesText(const EvaluationRecord& a, const EvaluationRecord& b,
                        const std::string& measure, uint64_t seed);

std::string QueriesText(const PairedChange& change);

// What the page begins with: which model to serve, of those that were measured on the first data
// set, by the first measure of the last one. None where fewer than two were measured on it, or
// where the values of single queries were not kept.
std::optional<Recommendation> RecommendationOf(const ReportInput& input);

}  // namespace tandem::report
