#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/catalogues.h"
#include "app/command.h"
#include "app/flags.h"
#include "base/error.h"
#include "report/page.h"
#include "report/report_input.h"

namespace tandem::app {
namespace {

struct ReportOptions {
  std::vector<std::string> inputs;
  std::string output;
};

// The page of one run lies in the run, beside the evaluations that it is made of.
std::filesystem::path OutputOf(const ReportOptions& options) {
  if (!options.output.empty()) return options.output;
  if (options.inputs.size() == 1 && std::filesystem::is_directory(options.inputs.front())) {
    return std::filesystem::path(options.inputs.front()) / "report" / "page";
  }
  throw UsageError("--output is needed: only the page of one run has a place of its own");
}

void RunReport(const ReportOptions& options) {
  const std::filesystem::path output = OutputOf(options);
  report::WriteReport(report::MakeReport(report::ReadReportInput(options.inputs, AllCatalogues())),
                      output);
  std::cout << (output / "index.html").native() << "\n";
}

std::function<void()> Configure(Flags& flags) {
  auto options = std::make_shared<ReportOptions>();
  flags
      .Add("run", options->inputs,
           "Run folders, and files NAME.evaluation.json; several are compared, with the first of a "
           "data set as the baseline")
      .Required();
  flags
      .Add(
          "--output", options->output,
          "Folder for index.html and the figures as TSV and SVG; an older report there is replaced")
      .Folder("a report is several files")
      .ShowDefault("RUN/report/page, for one run");
  return [options] { RunReport(*options); };
}

}  // namespace

extern const Command kReportCommand{
    {.name = "report", .summary = "Write the HTML page of a run, or of several beside each other"},
    Configure};

}  // namespace tandem::app
