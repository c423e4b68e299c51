// Reads folders and files into what a report shows.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "config/recipe/recipe_parse.h"
#include "report/page/page.h"

namespace tandem::report {

// Says whether it is the folder of a training run, finished or not.
bool IsRunFolder(const std::filesystem::path& path);

// Why an evaluation of a run was not measured.
struct RunNote {
  std::string run;         // its folder, as it is named among the inputs
  std::string evaluation;  // "before", "after"; "": any
  std::string sentence;    // without the run's name and a full stop
};

// The evaluations that were measured just before an input is read.
struct Measured {
  std::map<std::filesystem::path, EvaluationPlace> files;  // of evaluations that were written
  std::vector<RunNote> notes;
};

using RunNames = std::map<std::string, std::string, std::less<>>;  // by path

// Checks what ReadReportInput throws for, without reading runs: each path, and the files of
// evaluations whole.
void CheckReportInput(std::span<const std::string> paths);

// Reads run folders, with the evaluations NAME.evaluation.json in their folder `report`, and files
// of evaluations. `before` comes before all others of its run and `after` after it, others by
// name; an evaluation that several runs have alike is there once. Where `before` and `after` of a
// run are not of the same data (report/records/same_data.h), only one of them is there: the one
// that was measured just now, else `after`. What a run lacks or holds broken, and what is left out,
// is said in the input. Throws UsageError for a path that is neither, or is not there, or is named
// twice, and DataError for a broken file that was named itself.
// `names` has the names of runs on the page by their paths, for those that are not called as their
// folders are: one of many, of which it is not said by itself that nobody evaluated it, and one
// that cannot be opened is a run with that in its `missing`.
ReportInput ReadReportInput(std::span<const std::string> paths, config::RecipeCatalogues catalogues,
                            const Measured& measured = {}, const RunNames& names = {});

}  // namespace tandem::report
