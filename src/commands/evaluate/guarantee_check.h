// `tandem evaluate --guarantee`: measures whether the promises of a model are kept on other data.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "commands/evaluate/evaluate_command.h"
#include "commands/evaluate/evaluation_output.h"
#include "data/judgements/judged_data.h"
#include "eval/guarantees/promise_check.h"
#include "model/dual_encoder.h"
#include "search/retrieval/retrieve.h"
#include "weights/settings/guarantee.h"

namespace tandem::app {

struct CheckedGuarantee {
  weights::Guarantee guarantee;
  eval::SeenLoss seen;
  eval::Interval interval;  // of the mean loss, 95 %
  double nothing = 0;       // share of the queries that get nothing
  double chance = 1;        // of such a loss, or a higher one, if the promise is kept
  bool broken() const;
};

struct GuaranteeCheck {
  weights::GuaranteeBasis made_on;
  weights::GuaranteeBasis measured_on;
  std::vector<CheckedGuarantee> guarantees;
};

// The relevance level that the model's guarantees were made with, which they are checked with.
// Throws UsageError where another was asked for, and where the model has none.
double GuaranteedLevel(const EvaluateOptions& options);

// Finds what is checked before anything is encoded: the model's guarantees that the options name,
// "all" of them or by name. Throws UsageError for one that is not promised, and for those of
// queries without an answer where nobody says which these are; warns where the data are those that
// the promises were made with.
GuaranteeCheck PlanGuaranteeCheck(model::DualEncoder& model, const EvaluatedSet& set,
                                  const data::JudgedData& judged, const EvaluateOptions& options);

// What a check reads.
struct GuaranteeMeasurement {
  model::DualEncoder& model;
  const data::JudgedData& judged;
  const search::Retrieved& retrieved;  // kGuaranteeDepth deep or more, with samples
  size_t top_k = 0;                    // of it
  const EvaluateOptions& options;
  const std::string& folder;  // of the data set
};

// Sets what was seen of each guarantee.
void MeasureGuarantees(const GuaranteeMeasurement& measured, GuaranteeCheck* check);

// A table (text), lines "guarantee:NAME:loss<TAB>all<TAB>0.093" (tsv), and the member "guarantees"
// (json).
FurtherFigures GuaranteeFigures(const GuaranteeCheck& check, const report::TextStyle& style);

// The error where a promise is broken; "" where none is.
std::string BrokenGuarantee(const GuaranteeCheck& check);

}  // namespace tandem::app
