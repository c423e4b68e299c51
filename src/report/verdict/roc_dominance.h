// Says in words which of two ROC curves lies above the other, and where.
//
// A record keeps some points of a curve (commands/report/record_parts.h); between these the curve
// is taken to be straight, and what is said is exact for that. Where several points have one
// false-positive rate the curve stands upright there.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/records/evaluation_record.h"

namespace tandem::report {

enum class Higher { kFirst, kSecond, kNeither };

// A part of the axis of false-positive rates.
struct RocPart {
  double from = 0;
  double to = 1;
  Higher higher = Higher::kNeither;
};

// The parts from the rate `from` to 1, in order, without a gap; two that follow each other differ.
// Curves that meet in single points are not parted there. Points ascend in both coordinates. Empty
// where a curve has no points.
std::vector<RocPart> CompareRoc(std::span<const Point> first, std::span<const Point> second,
                                double from);

// The lowest rate at which curves of so many non-positives can differ by a step: the larger one of
// 1 / negatives.
double LowestRate(const RocFacts& first, const RocFacts& second);

// "A lies above B everywhere from a false-positive rate of 1e-04 on."; where they cross: "A lies
// above B up to 0.02, and below it from there on."; parts that are alike are said to be, and where
// both have found all positives, the comparison ends: "from there to 0.9, where both have ...".
// None where one of them has no curve.
std::optional<std::string> RocSentence(const std::string& first_name, const RocFacts& first,
                                       const std::string& second_name, const RocFacts& second);

}  // namespace tandem::report
