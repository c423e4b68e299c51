// `tandem report`: writes the HTML page of runs and models.
#pragma once

#include <string>
#include <vector>

#include "cli/globals.h"
#include "report/page/page.h"
#include "report/sweep/sweep.h"

namespace tandem::app {

struct ReportOptions {
  Globals globals;
  std::vector<std::string> inputs;  // run folders, model folders, files of evaluations
  std::string output;               // "": in the only run's folder
  std::string base;                 // model folder of the runs' base; "": as the recipes say
  std::string dataset;              // BEIR folder; "": the runs' validation data
  std::string split;                // "": test for `dataset`, else the recipe's
  double relevance_level = 1;
  bool by_document = false;         // documents of `dataset` are ranked by their best passages
  report::SweepOptions sweep = {};  // for the page of many runs
  bool many_runs = false;           // that page is written
};

struct ReportedModel;  // commands/report/report_plan.h

// Measures the models (commands/report/model_record.h), writes the records of those that belong to
// a run, and returns those of models that the user named, in the same order. In report_run.cc;
// needs tensors.
std::vector<report::LabelledEvaluation> MeasureForReport(const std::vector<ReportedModel>& models,
                                                         const ReportOptions& options);

}  // namespace tandem::app
