// What `tandem calibrate` finds out: the ways in which a model's scores can become probabilities,
// all measured on the same documents.
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
  // Whether the report is of maps that were fitted without the query they are measured on; else it
  // is of `calibration` itself.
  bool held_out = false;
  bool was_there = false;  // in the folder, fitted earlier, perhaps to the same documents
};

struct CalibrationStudy {
  size_t queries = 0;            // with at least one document that has a score
  size_t positives = 0;          // with a score
  size_t missing_positives = 0;  // judged, without a score: left out
  size_t negatives = 0;
  size_t folds = 0;  // of queries, for what is held out
  // The folder's fitted one, what the objective learned, Platt, isotonic; the first two where the
  // folder has them.
  std::vector<MeasuredCalibration> measured;
  size_t chosen = 0;  // of them

  const MeasuredCalibration& Chosen() const { return measured[chosen]; }
};

struct StudyInputs {
  std::span<const eval::QuerySamples> samples;
  std::optional<weights::Calibration> before;  // of the folder, for scores of `similarity`
  std::string similarity;                      // "cosine" or "dot"
  std::string data;                            // for people: "mine, split dev"
  // None: what the objective learned where it did, else Platt.
  std::optional<weights::CalibrationMethod> method;
};

// Fits Platt and isotonic to all samples, and measures each on every query by the fit without the
// query's fold (eval/calibration/calibration_folds.h). Throws UsageError where the method is
// objective and none has learned anything; DataError for samples without positives or negatives, or
// with one query.
CalibrationStudy StudyCalibrations(const StudyInputs& inputs);

}  // namespace tandem::app
