#include "report/sweep/run_tree.h"

#include <algorithm>
#include <set>
#include <system_error>

#include "report/records/report_input.h"

namespace tandem::report {
namespace {

namespace fs = std::filesystem;

class TreeReader {
 public:
  void Read(const fs::path& folder) {
    std::error_code error;
    const fs::path real = fs::canonical(folder, error);
    if (error || !seen_.insert(real).second) return;
    if (IsRunFolder(folder)) {
      tree_.runs.push_back(folder.native());
      return;
    }
    fs::directory_iterator entries(folder, error);
    if (error) {
      tree_.unread.push_back(folder.native());
      return;
    }
    ++tree_.folders;
    std::vector<fs::path> inner;
    for (const fs::directory_entry& entry : entries) {
      if (entry.is_directory(error)) inner.push_back(entry.path());
    }
    std::sort(inner.begin(), inner.end());  // of a run that two links lead to, the first counts
    for (const fs::path& path : inner) Read(path);
  }

  RunTree Take() {
    std::sort(tree_.runs.begin(), tree_.runs.end());
    return std::move(tree_);
  }

 private:
  RunTree tree_;
  std::set<fs::path> seen_;
};

}  // namespace

RunTree RunsBelow(const fs::path& folder) {
  TreeReader reader;
  if (fs::is_directory(folder)) reader.Read(folder);
  return reader.Take();
}

}  // namespace tandem::report
