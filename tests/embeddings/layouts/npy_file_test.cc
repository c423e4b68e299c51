#include "embeddings/layouts/npy_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <vector>

#include "base/files/files.h"
#include "support/temporary_folder.h"

namespace tandem::embeddings {
namespace {

TEST(NpyFile, EndsInTheBytesOfAFileThatWasWrittenAtOnce) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "m.npy", whole = folder.path() / "whole.npy";
  WriteNpy(whole, 2, std::vector<float>{1, 2, 3, 4, 5, 6});
  {
    NpyFile npy(path, 2);
    npy.KeepRows(0);
    npy.Write(std::vector<float>{1, 2});
    npy.Write(std::vector<float>{9, 9});
  }
  EXPECT_EQ(ReadNpyShape(PartFile::PartOf(path)).rows, 0U);
  {
    NpyFile npy(path, 2);
    npy.KeepRows(1);
    npy.TakeRoom(1000);
    npy.Write(std::vector<float>{3, 4});
    npy.Write(std::vector<float>{5, 6});
    npy.Complete();
    EXPECT_EQ(ReadNpyShape(PartFile::PartOf(path)).rows, 3U);
    EXPECT_FALSE(std::filesystem::exists(path));
    npy.Commit();
  }
  EXPECT_EQ(ReadFile(path), ReadFile(whole));
  EXPECT_FALSE(std::filesystem::exists(PartFile::PartOf(path)));
}

// One that was completed, and not named before its process ended, may be taken up as well.
TEST(NpyFile, ACompletedPartLosesItsRowsWhereFewerAreKept) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "m.npy";
  {
    NpyFile npy(path, 1);
    npy.KeepRows(0);
    npy.Write(std::vector<float>{1, 2, 3});
    npy.Complete();
  }
  NpyFile npy(path, 1);
  npy.KeepRows(1);
  npy.Write(std::vector<float>{7});
  npy.Complete();
  npy.Commit();
  const MappedRows matrix = ReadNpy(path);
  EXPECT_EQ(std::vector<float>(matrix.values.begin(), matrix.values.end()),
            (std::vector<float>{1, 7}));
}

TEST(NpyFile, DiscardLeavesNothing) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "m.npy";
  {
    NpyFile npy(path, 2);
    npy.KeepRows(0);
    npy.Write(std::vector<float>{1, 2});
    EXPECT_THROW(npy.Write(std::vector<float>{1}), std::logic_error);
    npy.Discard();
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace tandem::embeddings
