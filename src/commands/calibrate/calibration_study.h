// Compares the methods that turn a model's scores into probabilities, all measured on the same
// documents.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "eval/calibration/reliability.h"
#include "eval/samples/auc.h"
#include "weights/settings/calibration.h"

namespace tandem::app {

struct MeasuredCalibration {
  weights::Calibration calibration;
  eval::CalibrationReport report;
  // Whether the report is about maps that were fitted without the query they are measured on; else
  // it is about `calibration` itself.
  bool held_out = false;
  bool was_there = false;  // the folder has it from an earlier fit, perhaps to the same documents
};

struct CalibrationStudy {
  size_t queries = 0;            // queries with at least one document that has a score
  size_t positives = 0;          // positives with a score
  size_t missing_positives = 0;  // judged positives without a score: left out
  size_t negatives = 0;
  size_t folds = 0;  // folds of queries, if maps are measured on held-out ones
  // The calibration that was fitted earlier, the one that the objective learned, Platt, isotonic;
  // the first two only if the folder has them.
  std::vector<MeasuredCalibration> measured;
  size_t chosen = 0;  // index in `measured`

  const MeasuredCalibration& Chosen() const { return measured[chosen]; }
};

struct StudyInputs {
  std::span<const eval::QuerySamples> samples;
  std::optional<weights::Calibration> before;  // the folder's, for scores of `similarity`
  std::string similarity;                      // "cosine" or "dot"
  std::string data;                            // description for people: "mine, split dev"
  // None: the calibration that the objective learned if there is one, else Platt.
  std::optional<weights::CalibrationMethod> method;
};

// Fits Platt and isotonic to all samples, and measures each on every query by the fit without the
// query's fold (eval/calibration/calibration_folds.h). Throws UsageError if the method is
// "objective" and the objective has learned no calibration; DataError for samples without positives
// or without negatives, or with one query.
CalibrationStudy StudyCalibrations(const StudyInputs& inputs);

}  // namespace tandem::app
