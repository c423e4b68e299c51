// The work of `tandem calibrate`: retrieves with the model, fits the calibrations, and writes
// tandem.json.
#include <fmt/format.h>

#include <iostream>
#include <optional>

#include "base/log.h"
#include "cli/output_style.h"
#include "commands/calibrate/calibrate_command.h"
#include "commands/calibrate/calibration_output.h"
#include "commands/calibrate/calibration_study.h"
#include "commands/model/load_model.h"
#include "commands/model/model_calibration.h"
#include "commands/until_stopped.h"
#include "data/judgements/judged_data.h"
#include "search/retrieval/retrieve.h"
#include "search/scoring/score_samples.h"
#include "weights/folders/tandem_file.h"

namespace tandem::app {
namespace {

std::vector<eval::QuerySamples> SamplesOf(model::DualEncoder& model, const data::JudgedData& judged,
                                          const CalibrateOptions& options) {
  search::Retrieved retrieved = search::Retrieve(model, judged.dataset,
                                                 {.top_k = 1,
                                                  .relevance_level = options.relevance_level,
                                                  .encode = BulkOptions(options.globals),
                                                  .embeddings = options.embeddings,
                                                  .cache = CacheUnless(options.no_cache)});
  search::CountMissingPositives(judged.qrels, options.relevance_level, retrieved.samples);
  if (options.depth) return eval::BestSamples(retrieved.samples, *options.depth);
  return std::move(retrieved.samples);
}

// What is fitted to, for people.
std::string DataText(const CalibrateOptions& options) {
  std::string text = fmt::format("{}, split {}", FolderName(options.dataset), options.split);
  if (options.depth == 1) text += ", each query's first document";
  if (options.depth > 1) text += fmt::format(", each query's best {} documents", *options.depth);
  return text;
}

void Remark(const CalibrationStudy& study, const CalibrateOptions& options) {
  if (study.missing_positives > 0) {
    Warn(fmt::format("judged positives without a score, left out: {}", study.missing_positives));
  }
  Note(
      fmt::format("each figure of platt and isotonic is of fits without the query that it is "
                  "measured on, by {} "
                  "folds of the queries; what is kept is fitted to all of them",
                  study.folds));
  const weights::Calibration& chosen = study.Chosen().calibration;
  if (chosen.method == weights::CalibrationMethod::kPlatt && chosen.scale < 0) {
    Warn("the scale is below 0: documents with higher scores are less often positives here");
  }
  const std::string method(weights::CalibrationMethodName(chosen.method));
  Note(options.dry_run ? fmt::format("{}: not changed (--dry-run)", options.model.model)
                       : fmt::format("{}/{}: probability by method {}", options.model.model,
                                     weights::kTandemFile, method));
}

}  // namespace

void RunCalibrate(const CalibrateOptions& options) {
  const auto model = LoadModel(options.globals, options.model);
  const data::JudgedData judged = data::LoadJudgedData(options.dataset, options.split);
  const std::vector<eval::QuerySamples> samples = UntilStopped(
      fmt::format("{} is as it was{}", options.model.model, KeptInCache(options.no_cache)), [&] {
        auto found = SamplesOf(*model, judged, options);
        StopIfAsked();
        return found;
      });
  const CalibrationStudy study = StudyCalibrations(
      {.samples = samples,
       .before = CalibrationOf(*model, options.model),
       .similarity = model->similarity(),
       .data = DataText(options),
       .method =
           options.method ? weights::CalibrationMethodFromName(*options.method) : std::nullopt});
  if (!options.dry_run) {
    weights::WriteCalibration(options.model.model, study.Chosen().calibration);
  }
  std::cout << FormatStudy(study, options.format, OutputStyle());
  Remark(study, options);
}

}  // namespace tandem::app
