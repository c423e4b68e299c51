// Finds the runs below a folder: a sweep, the seeds of one recipe, the trials of a search.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace tandem::report {

struct RunTree {
  std::vector<std::string> runs;    // their paths, which begin with the folder's; sorted
  std::vector<std::string> unread;  // folders that could not be opened
  size_t folders = 0;               // that were looked into
};

// Looks into `folder` and all folders below it, at any depth, through links too, each once; folders
// of runs are not entered. An empty tree for what is no folder.
RunTree RunsBelow(const std::filesystem::path& folder);

}  // namespace tandem::report
