#include "commands/report/report_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
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
#include "commands/report/report_sweep.h"
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
  if (options.inputs.size() == 1 && options.many_runs) {
    return std::filesystem::path(options.inputs.front()) / "report" / "page";
  }
  throw UsageError(
      "--output is needed: only the page of one run or of one folder of runs has a place of its "
      "own");
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

// Takes what the flags of the page of many runs say, and writes that page where one of them is
// given or an input is a folder of runs.
void ChooseThePage(const ReportedRuns& runs, ReportOptions& options) {
  const report::SweepOptions& sweep = options.sweep;
  options.many_runs =
      runs.several || !sweep.by.empty() || !sweep.series.empty() || !sweep.measure.empty();
  options.sweep.unread = runs.unread;
}

// Writes the page of many runs, and says on stderr which group is the best.
void WriteManyRuns(report::ReportInput& input, const ReportOptions& options,
                   const std::filesystem::path& output) {
  input.title = fmt::format("Report of {} runs", input.runs.size());
  const report::Sweep sweep = report::MakeSweep(input, options.sweep);
  report::WriteReport(report::MakeSweepReport(sweep), output);
  for (const std::string& sentence : report::SweepSentences(sweep)) Note(sentence);
}

void WriteOnePage(const report::ReportInput& input, const std::filesystem::path& output) {
  report::WriteReport(report::MakeReport(input), output);
  if (const auto advice = report::RecommendationOf(input)) {
    Note(advice->sentence);
    if (!advice->commands.empty()) Note(advice->commands);
  }
}

void RunReport(ReportOptions options) {
  if (options.by_document && options.dataset.empty()) {
    throw UsageError("--by-document says how the documents of --dataset are ranked; it needs one");
  }
  const ReportedRuns runs = FindReportedRuns(options.inputs);
  ChooseThePage(runs, options);
  const std::filesystem::path output = OutputOf(options);
  options.inputs = runs.inputs;
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
      report::ReadReportInput(plan.inputs, AllCatalogues(), MeasuredBy(plan), runs.names);
  input.evaluations.insert(input.evaluations.end(), std::make_move_iterator(measured.begin()),
                           std::make_move_iterator(measured.end()));
  input.seed = SeedOf(options.globals);
  if (options.many_runs) {
    WriteManyRuns(input, options, output);
  } else {
    WriteOnePage(input, output);
  }
  std::cout << (output / "index.html").native() << "\n";
}

// The flags of the page of many runs, as they were given.
struct SweepFlags {
  std::optional<std::string> by, measure;
  std::vector<std::string> series;
};

// Takes over what was given. An empty value is none that anybody means.
void TakeSweepFlags(const SweepFlags& flags, report::SweepOptions& sweep) {
  if (flags.by) report::CheckSweepKey("--by", *flags.by, AllCatalogues());
  for (size_t i = 0; i < flags.series.size(); ++i) {
    const std::string& key = flags.series[i];
    report::CheckSweepKey("--series", key, AllCatalogues());
    if (std::find(flags.series.begin(), flags.series.begin() + static_cast<std::ptrdiff_t>(i),
                  key) != flags.series.begin() + static_cast<std::ptrdiff_t>(i)) {
      throw UsageError(fmt::format("--series: {} is named twice; name it once", key));
    }
  }
  if (flags.measure && flags.measure->empty()) {
    throw UsageError("--measure: is empty; expected a measure that the runs have, such as ndcg@10");
  }
  sweep.by = flags.by.value_or("");
  sweep.series = flags.series;
  sweep.measure = flags.measure.value_or("");
}

void AddSweepFlags(Flags& flags, SweepFlags& sweep) {
  flags
      .Add("--by", sweep.by,
           "Of many runs: show the measure against this key of their recipes, for example "
           "optimizer.learning_rate")
      .ShowDefault("the keys that have most values");
  flags
      .Add("--series", sweep.series,
           "Of many runs: a line for each value of this key; give it again for combinations")
      .ShowDefault("objective.name where it differs");
  flags
      .Add("--measure", sweep.measure,
           "Of many runs: the measure of their validations or evaluations to compare them by")
      .ShowDefault("the one that chose their steps");
}

CommandBody ConfigureReport(Flags& flags) {
  auto options = std::make_shared<ReportOptions>();
  auto sweep = std::make_shared<SweepFlags>();
  flags
      .Add("run", options->inputs,
           "Run folders, folders of runs, model folders, and files NAME.evaluation.json; several "
           "are compared, with the first of a data set as the baseline")
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
  AddSweepFlags(flags, *sweep);
  flags
      .Add(
          "--output", options->output,
          "Folder for index.html and the figures as TSV and SVG; an older report there is replaced")
      .Folder("a report is several files")
      .ShowDefault("report/page in the one run or folder of runs");
  return [options, sweep](const Globals& globals) {
    options->globals = globals;
    TakeSweepFlags(*sweep, options->sweep);
    RunReport(*options);
  };
}

constexpr Example kReportExamples[] = {
    {"tandem report runs/mine --dataset data/mine",
     "Write a page: before and after, curves, failures"},
    {"tandem report runs/mine runs/two --output compared", "Show two runs beside each other"},
    {"tandem report runs/sweep --by optimizer.learning_rate",
     "Show all runs below a folder: means over seeds, and what the measure follows"},
};

}  // namespace

extern const Command kReportCommand{
    {.name = "report", .summary = "Write the HTML page of a run, or of several beside each other"},
    ConfigureReport,
    kReportExamples};

}  // namespace tandem::app
