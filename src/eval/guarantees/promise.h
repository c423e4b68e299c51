// What a threshold can promise about queries that nobody has judged, as users write it:
// "recall=0.9", "precision=0.9@0.95", "no-answer=0.05".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::eval {

enum class PromiseKind {
  kRecall,     // recall_guarantee.h
  kPrecision,  // precision_guarantee.h
  kNoAnswer,   // no_answer_guarantee.h
};

struct Promise {
  PromiseKind kind = PromiseKind::kRecall;
  // As it is written: the least share of what is relevant, the least share of what is shown that is
  // right, the highest share of queries without an answer that get one. In (0, 1).
  double level = 0;
  double confidence = 0;  // of precision, in (0, 1); the others hold on average and have none

  // The highest expected loss: 1 - level, or the level of kNoAnswer. Rounded to 12 digits, so that
  // recall=0.9 allows 0.1 and not 0.09999999999999998, which would cost a query.
  double risk() const;
  // "recall=0.9", "precision=0.9@0.95".
  std::string Name() const;
  // A sentence for people, without a full stop: "answers keep at least 90 % of what is relevant, on
  // average over queries".
  std::string Sentence() const;
  bool operator==(const Promise&) const = default;
};

inline constexpr double kDefaultConfidence = 0.95;

// Shares are at least this far from 0 and 1, and confidences from 1: of what is nearer the rounding
// of sums would decide.
inline constexpr double kNearestShare = 1e-9;
// A promise that is rather broken than kept is none.
inline constexpr double kLeastConfidence = 0.5;

// Throws UsageError: another name, no number, a share of 0 or 1 (nobody can promise 100 %) or
// within kNearestShare of them, a confidence below kLeastConfidence or of a promise that has none.
Promise ParsePromise(std::string_view text);

// Several of them, separated by commas. Throws as ParsePromise.
std::vector<Promise> ParsePromises(std::string_view text);

// The fewest judged queries with which the promise can be made at all, if the model is perfect on
// them: the smallest n with 1 / (n + 1) <= risk (recall, no-answer), or with (1 - risk)^n <= 1 -
// confidence.
size_t FewestQueries(const Promise& promise);

}  // namespace tandem::eval
