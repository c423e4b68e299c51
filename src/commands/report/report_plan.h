// Which models `tandem report` has to measure before it can write its page.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "commands/model_flags.h"
#include "commands/report/report_command.h"
#include "report/records/report_input.h"

namespace tandem::app {

// What a model is measured on.
struct ReportedData {
  std::string folder;  // BEIR
  std::string split;
};

// A model that is measured for the page.
struct ReportedModel {
  ModelFlags flags;
  std::string name;  // as the page shows it: "before", "after", or the end of a folder's path
  ReportedData data;
  // Where its record is kept: report/before.evaluation.json or report/after.evaluation.json of its
  // run. Empty for a model that was named itself, whose record is on the page only.
  std::filesystem::path record;
};

struct ReportPlan {
  std::vector<ReportedModel> models;
  std::vector<std::string> inputs;     // run folders and files of evaluations, as given
  std::vector<report::RunNote> notes;  // which models of runs cannot be measured, and why
};

// With --dataset, every run's base and trained model are measured on it anew. Without, those of
// runs that have no evaluation yet are, on the validation data of their recipes; a run whose recipe
// has none stays without. Base and data are where the recipe that was given says, else in the
// current folder (commands/run_recipe.h). Model folders among the inputs need --dataset. Notes tell
// of a base, a trained model or validation data that is not there, and of a base of two folders.
// Throws UsageError.
ReportPlan PlanReport(const ReportOptions& options);

}  // namespace tandem::app
