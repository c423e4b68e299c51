#include "report/sweep/run_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/files.h"
#include "support/temporary_folder.h"

namespace tandem::report {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class RunTreeTest : public testing::Test {
 protected:
  void MakeRun(const std::string& name, const std::string& file = "metrics.jsonl") {
    fs::create_directories(folder_.path() / name);
    WriteFileAtomically(folder_.path() / name / file, "");
  }
  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }
  TemporaryFolder folder_;
};

TEST_F(RunTreeTest, FindsRunsAtAnyDepthSorted) {
  MakeRun("sweep/trials/007/run");
  MakeRun("sweep/b", "recipe.resolved.toml");
  MakeRun("sweep/a/seed-2");
  fs::create_directories(Path("sweep/empty"));
  EXPECT_THAT(RunsBelow(Path("sweep")).runs,
              ElementsAre(Path("sweep/a/seed-2"), Path("sweep/b"), Path("sweep/trials/007/run")));
}

TEST_F(RunTreeTest, DoesNotEnterRuns) {
  MakeRun("sweep/a");
  MakeRun("sweep/a/older");
  EXPECT_THAT(RunsBelow(Path("sweep")).runs, ElementsAre(Path("sweep/a")));
}

TEST_F(RunTreeTest, FollowsLinksOnce) {
  MakeRun("elsewhere/run");
  fs::create_directories(Path("sweep/inner"));
  fs::create_directory_symlink(Path("elsewhere"), Path("sweep/link"));
  fs::create_directory_symlink(Path("elsewhere"), Path("sweep/other"));
  fs::create_directory_symlink(Path("sweep"), Path("sweep/inner/round"));
  EXPECT_THAT(RunsBelow(Path("sweep")).runs, ElementsAre(Path("sweep/link/run")));
}

TEST_F(RunTreeTest, CountsWhereItLooked) {
  fs::create_directories(Path("none/a/b"));
  const RunTree tree = RunsBelow(Path("none"));
  EXPECT_THAT(tree.runs, IsEmpty());
  EXPECT_EQ(tree.folders, 3u);
  EXPECT_THAT(RunsBelow(Path("not there")).runs, IsEmpty());
}

}  // namespace
}  // namespace tandem::report
