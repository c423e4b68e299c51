// Chooses the thresholds of promises, for all queries or for groups of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "commands/guarantees/judged_rows.h"
#include "eval/guarantees/promise.h"
#include "weights/settings/guarantee.h"

namespace tandem::app {

// The word of --unanswerable that takes each query without its own answers.
inline constexpr const char* kHeldOut = "held-out";

struct StudiedGuarantee {
  weights::Guarantee guarantee;  // its threshold only where it is promised
  bool promised = false;
  std::string why;  // nothing is promised, and what would do; "" where it is promised
};

struct GuaranteeStudy {
  std::vector<StudiedGuarantee> guarantees;  // in the order that they were asked for, by group
  size_t queries = 0;                        // that have a text
  size_t without_positive = 0;               // of them
  size_t groups = 0;                         // 0: not by group
  size_t without_group = 0;                  // queries that lack the field
  size_t documents = 0, unjudged = 0;        // that were looked at
};

struct GuaranteeStudyInputs {
  const JudgedRows& judged;
  const std::vector<eval::Promise>& promises;
  std::string similarity;
  size_t depth = 0;
  bool judged_only = false;
  std::string unanswerable;                  // its name for people; "" without a no-answer promise
  std::vector<double> best_of_unanswerable;  // best scores of these queries
  std::string by;                            // field of the queries; "": all are one group
  std::vector<std::optional<std::string>> groups;  // [rows]: the field's values; empty without `by`
};

// Throws UsageError where `judged_only` has nothing to say, because no judged document is a
// negative. A promise of no answer is made for all queries together, also by group.
GuaranteeStudy StudyGuarantees(const GuaranteeStudyInputs& inputs);

}  // namespace tandem::app
