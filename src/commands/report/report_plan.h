// Plans which models `tandem report` must measure before it can write its page.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "commands/model/model_flags.h"
#include "commands/report/report_command.h"
#include "report/records/report_input.h"

namespace tandem::app {

// The data on which a model is measured.
struct ReportedData {
  std::string folder;  // BEIR
  std::string split;
};

// A model that is measured for the page.
struct ReportedModel {
  ModelFlags flags;
  std::string name;  // its name on the page: "before", "after", or the end of a folder's path
  ReportedData data;
  // The file of its record: report/before.evaluation.json or report/after.evaluation.json of its
  // run. Empty for a model that the user named, whose record is only on the page.
  std::filesystem::path record;
};

struct ReportPlan {
  std::vector<ReportedModel> models;
  std::vector<std::string> inputs;     // run folders and files of evaluations, as given
  std::vector<report::RunNote> notes;  // about models of runs that cannot be measured
};

// Plans the page. With --dataset, the base and the trained model of every run are measured on it
// anew. Without, those of runs that have no evaluation yet are measured on the validation data of
// their recipes; a run whose recipe has no such data is not measured. Base model and data are
// searched where the given recipe says, then in the current folder (commands/run_recipe.h). Model
// folders among the inputs need --dataset. Notes report a missing base model, trained model or
// validation data, and a base model of two folders. For the page of many runs nothing is measured
// without --dataset. Throws UsageError.
ReportPlan PlanReport(const ReportOptions& options);

}  // namespace tandem::app
