// A made run with evaluations before and after, as a training on a package index leaves them: for
// tests, and for looking at the page (report_example).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "report/records/evaluation_record.h"

namespace tandem::report {

struct ExampleModel {
  std::string name = "all-MiniLM-L6-v2";
  double separation = 0.2;  // of the mean scores of positives and hard negatives
  uint64_t seed = 1;
};

// Scores are drawn; ROC, thresholds and histograms are counted from them.
EvaluationRecord ExampleEvaluation(const ExampleModel& model);

// `folder` becomes a finished run with two evaluations in report/.
void WriteExampleRun(const std::filesystem::path& folder, const ExampleModel& after);

}  // namespace tandem::report
