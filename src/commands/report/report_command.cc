#include "commands/report/report_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/process/short_waits.h"
#include "commands/by_document.h"
#include "commands/catalogues.h"
#include "commands/model/model_flags.h"
#include "commands/report/report_plan.h"
#include "commands/until_stopped.h"
#include "report/page/page.h"
#include "report/records/report_input.h"
#include "report/verdict/paired_change.h"

namespace tandem::app {
namespace {

// Returns the path of the page. The page of a single run is in the run's folder, beside the
// evaluations that it is made of.
std::filesystem::path OutputOf(const ReportOptions& options) {
  if (!options.output.empty()) return options.output;
  if (options.inputs.size() == 1 && report::IsRunFolder(options.inputs.front())) {
    return std::filesystem::path(options.inputs.front()) / "report" / "page";
  }
  throw UsageError("--output is needed: only the page of one run has a place of its own");
}

// Returns the files of records that are measured for the page, and the plan's notes.
report::Measured MeasuredBy(const ReportPlan& plan) {
  report::Measured measured{.files = {}, .notes = plan.notes};
  for (const ReportedModel& model : plan.models) {
    if (model.record.empty()) continue;
    measured.files[model.record] = {.model = model.flags.model, .data = model.data.folder};
  }
  return measured;
}

void RunReport(const ReportOptions& options) {
  if (options.by_document && options.dataset.empty()) {
    throw UsageError("--by-document says how the documents of --dataset are ranked; it needs one");
  }
  const std::filesystem::path output = OutputOf(options);
  const ReportPlan plan = PlanReport(options);
  std::vector<report::LabelledEvaluation> measured;
  if (!plan.models.empty()) {
    // Errors are reported before corpora are encoded, which may take hours.
    report::CheckReportInput(plan.inputs);
    report::CheckReportFolder(output);
    WaitBriefly();
    measured = UntilStopped("no page was written" + KeptInCache(false),
                            [&] { return MeasureForReport(plan.models, options); });
  }
  for (const report::RunNote& note : plan.notes) {
    Note(fmt::format("{}: {}", note.run, note.sentence));
  }
  report::ReportInput input =
      report::ReadReportInput(plan.inputs, AllCatalogues(), MeasuredBy(plan));
  input.evaluations.insert(input.evaluations.end(), std::make_move_iterator(measured.begin()),
                           std::make_move_iterator(measured.end()));
  input.seed = SeedOf(options.globals);
  report::WriteReport(report::MakeReport(input), output);
  if (const auto advice = report::RecommendationOf(input)) {
    Note(advice->sentence);
    if (!advice->commands.empty()) Note(advice->commands);
  }
  std::cout << (output / "index.html").native() << "\n";
}

CommandBody ConfigureReport(Flags& flags) {
  auto options = std::make_shared<ReportOptions>();
  flags
      .Add("run", options->inputs,
           "Run folders, model folders, and files NAME.evaluation.json; several are compared, with "
           "the first of a data set as the baseline")
      .Required();
  flags.Add("--base", options->base,
            "Model folder that runs started from, where it is not where their recipes say");
  flags.Add("--dataset", options->dataset,
            "BEIR folder to measure models on: those of runs before and after training, and model "
            "folders. Without it, runs that have no evaluation yet are measured on the validation "
            "data of their recipes");
  flags.Add("--split", options->split,
            "Split of the data set (default test; of a recipe's data the recipe's)");
  flags
      .Add("--relevance-level", options->relevance_level,
           "Grade from which a document is a positive")
      .ShowDefault();
  AddByDocumentFlag(flags, options->by_document);
  flags
      .Add(
          "--output", options->output,
          "Folder for index.html and the figures as TSV and SVG; an older report there is replaced")
      .Folder("a report is several files")
      .ShowDefault("RUN/report/page, for one run");
  return [options](const Globals& globals) {
    options->globals = globals;
    RunReport(*options);
  };
}

constexpr Example kReportExamples[] = {
    {"tandem report runs/mine --dataset data/mine",
     "Write a page: before and after, curves, failures"},
    {"tandem report runs/mine runs/two --output compared", "Show two runs beside each other"},
};

}  // namespace

extern const Command kReportCommand{
    {.name = "report", .summary = "Write the HTML page of a run, or of several beside each other"},
    ConfigureReport,
    kReportExamples};

}  // namespace tandem::app
