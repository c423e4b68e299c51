#include "base/files/temporary_paths.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>

#include "base/files/atomic_folder.h"
#include "base/files/files.h"
#include "support/temporary_folder.h"

namespace tandem {
namespace {

std::set<std::string> NamesIn(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.insert(entry.path().filename().native());
  }
  return names;
}

// In a process of its own: afterwards it could make no file any more.
[[noreturn]] void LeaveFilesAndRemoveThem(const std::filesystem::path& folder) {
  AtomicFile* const file = new AtomicFile(folder / "file");
  file->Write("begun");
  AtomicFolder* const inside = new AtomicFolder(folder / "folder");
  WriteFileAtomically(inside->staging() / "part", "x");
  AtomicFolder committed(folder / "complete");
  committed.Commit();
  WriteFileAtomically(folder / "whole", "x");
  const size_t before = NamesIn(folder).size();
  RemoveTemporaryPaths();
  ::_exit(before == 4 ? 0 : 9);
}

TEST(TemporaryPaths, AProcessThatEndsAtOnceLeavesWhatIsComplete) {
  const TemporaryFolder folder;
  EXPECT_EXIT(LeaveFilesAndRemoveThem(folder.path()), testing::ExitedWithCode(0), "");
  EXPECT_EQ(NamesIn(folder.path()), (std::set<std::string>{"complete", "whole"}));
}

}  // namespace
}  // namespace tandem
