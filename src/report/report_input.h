// From folders and files to what a report shows.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "config/recipe_parse.h"
#include "report/page.h"

namespace tandem::report {

// Whether it is the folder of a training run, finished or not.
bool IsRunFolder(const std::filesystem::path& path);

// Reads run folders, with the evaluations NAME.evaluation.json in their folder `report`, and files
// of evaluations. `before` comes before all others of its run and `after` behind it, others by
// name; an evaluation that several runs have alike is there once. Where `before` and `after` of a
// run are not of the same data (report/same_data.h), only one of them is there: the one that is
// among `fresh`, the files of evaluations that were written just now, else `after`. What a run
// lacks or holds broken, and what is left out, is said in the input. Throws UsageError for a path
// that is neither, or is not there, or is named twice, and DataError for a broken file that was
// named itself.
ReportInput ReadReportInput(std::span<const std::string> paths, config::RecipeCatalogues catalogues,
                            std::span<const std::filesystem::path> fresh = {});

}  // namespace tandem::report
