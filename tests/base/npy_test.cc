#include "base/npy.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"

namespace tandem {
namespace {

TEST(Npy, ReadsBackWhatItWrote) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "m.npy";
  NpyWriter writer(path, 3);
  writer.Append(std::vector<float>{1, 2, 3, 4, 5, 6});
  writer.Append(std::vector<float>{7, 8, 9});
  writer.Commit();
  const NpyMatrix matrix = ReadNpy(path);
  EXPECT_EQ(matrix.rows, 3U);
  EXPECT_EQ(matrix.columns, 3U);
  EXPECT_EQ(matrix.values, (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(Npy, HeaderIsWhatNumPyExpects) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "m.npy";
  NpyWriter writer(path, 2);
  writer.Append(std::vector<float>{1, 2});
  writer.Commit();
  const std::string bytes = ReadFile(path);
  EXPECT_EQ(bytes.size(), 128U + 8U);
  EXPECT_EQ(bytes.substr(10, 59), "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }");
  EXPECT_EQ(bytes[127], '\n');
}

TEST(Npy, CutShortOrForeignFilesAreDataErrors) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "m.npy";
  NpyWriter writer(path, 2);
  writer.Append(std::vector<float>{1, 2, 3, 4});
  writer.Commit();
  const std::string bytes = ReadFile(path);
  for (size_t length = 0; length < bytes.size(); ++length) {
    WriteFileAtomically(path, bytes.substr(0, length));
    EXPECT_THROW(ReadNpy(path), DataError) << length;
  }
}

}  // namespace
}  // namespace tandem
