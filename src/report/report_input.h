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
// name; an evaluation that several runs have alike is there once. What a run lacks or holds broken
// is said in the input. Throws UsageError for a path that is neither, or is not there, or is named
// twice, and DataError for a broken file that was named itself.
ReportInput ReadReportInput(std::span<const std::string> paths,
                            config::RecipeCatalogues catalogues);

}  // namespace tandem::report
