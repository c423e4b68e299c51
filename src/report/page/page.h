// The report: one HTML page, and each of its figures as a TSV and an SVG file.
//
// The page loads nothing: style, script and figures are in it, and its content security policy
// allows these and nothing else. It can be read without script.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "report/records/evaluation_record.h"
#include "report/records/run_record.h"

namespace tandem::report {

// Where a model and the data that it was measured on lie, as whoever asked for the page named them.
struct EvaluationPlace {
  std::string model;
  std::string data;
};

struct LabelledEvaluation {
  std::string label;  // "before", "after"; with several runs "RUN: after". One each.
  EvaluationRecord record;
  std::optional<EvaluationPlace> place = std::nullopt;  // of what was measured just now
};

// An evaluation that a run has. Several runs have one alike, such as of their base.
struct RunsEvaluation {
  size_t run = 0;         // of ReportInput::runs
  size_t evaluation = 0;  // of ReportInput::evaluations
  std::string name;       // "before", "after", or another file's
};

struct ReportInput {
  std::string title;
  std::vector<RunRecord> runs;
  // They are in the order of comparison: the others of a data set are compared with the first.
  std::vector<LabelledEvaluation> evaluations;
  // Says in sentences which evaluations of runs are not shown, and why.
  std::vector<std::string> missing;
  // Of the tests of differences; with `compare`'s they have the same p.
  uint64_t seed = 1;
  std::vector<RunsEvaluation> of_runs = {};
};

struct ReportFile {
  std::string path;  // within the report's folder
  std::string bytes;
};

// index.html comes first, then figures/NAME.tsv and figures/NAME.svg. Each part of the input may be
// empty: its section then says what is missing. The same input gives the same bytes.
std::vector<ReportFile> MakeReport(const ReportInput& input);

// Throws UsageError where `folder` holds something that is no report, and OutputError where nothing
// can be written beside it: for the beginning of work whose end is WriteReport.
void CheckReportFolder(const std::filesystem::path& folder);

// Writes the files in one step (base/files/atomic_folder.h): `folder` has the old report or the new
// one. Throws as CheckReportFolder does.
void WriteReport(const std::vector<ReportFile>& files, const std::filesystem::path& folder);

}  // namespace tandem::report
