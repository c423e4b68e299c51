#include "base/files/resumable_npy.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <vector>

#include "base/files/files.h"
#include "support/temporary_folder.h"

namespace tandem {
namespace {

TEST(ResumableNpy, EndsInTheBytesOfAFileThatWasWrittenAtOnce) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "m.npy", whole = folder.path() / "whole.npy";
  NpyWriter writer(whole, 2);
  writer.Append(std::vector<float>{1, 2, 3, 4, 5, 6});
  writer.Commit();
  {
    ResumableNpy npy(path, 2);
    npy.KeepRows(0);
    npy.Append(std::vector<float>{1, 2});
    npy.Append(std::vector<float>{9, 9});
  }
  EXPECT_EQ(ReadNpyShape(PartFile::PartOf(path)).rows, 0U);
  {
    ResumableNpy npy(path, 2);
    npy.KeepRows(1);
    npy.TakeRoom(1000);
    npy.Append(std::vector<float>{3, 4});
    npy.Append(std::vector<float>{5, 6});
    npy.Complete();
    EXPECT_EQ(ReadNpyShape(PartFile::PartOf(path)).rows, 3U);
    EXPECT_FALSE(std::filesystem::exists(path));
    npy.Commit();
  }
  EXPECT_EQ(ReadFile(path), ReadFile(whole));
  EXPECT_FALSE(std::filesystem::exists(PartFile::PartOf(path)));
}

// One that was completed, and not named before its process ended, may be taken up as well.
TEST(ResumableNpy, ACompletedPartLosesItsRowsWhereFewerAreKept) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "m.npy";
  {
    ResumableNpy npy(path, 1);
    npy.KeepRows(0);
    npy.Append(std::vector<float>{1, 2, 3});
    npy.Complete();
  }
  ResumableNpy npy(path, 1);
  npy.KeepRows(1);
  npy.Append(std::vector<float>{7});
  npy.Complete();
  npy.Commit();
  const NpyMatrix matrix = ReadNpy(path);
  EXPECT_EQ(std::vector<float>(matrix.values.begin(), matrix.values.end()),
            (std::vector<float>{1, 7}));
}

TEST(ResumableNpy, DiscardLeavesNothing) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "m.npy";
  {
    ResumableNpy npy(path, 2);
    npy.KeepRows(0);
    npy.Append(std::vector<float>{1, 2});
    EXPECT_THROW(npy.Append(std::vector<float>{1}), std::logic_error);
    npy.Discard();
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace tandem
