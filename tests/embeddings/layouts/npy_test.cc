#include "embeddings/layouts/npy.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "support/resident_memory.h"
#include "support/temporary_folder.h"

namespace tandem::embeddings {
namespace {

TEST(Npy, ReadsBackWhatItWrote) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "m.npy";
  WriteNpy(path, 3, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9});
  const MappedRows matrix = ReadNpy(path);
  EXPECT_EQ(matrix.rows, 3U);
  EXPECT_EQ(matrix.columns, 3U);
  EXPECT_EQ(std::vector<float>(matrix.values.begin(), matrix.values.end()),
            (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

// Kept embeddings of a corpus are most of what a search holds; a copy would double them.
TEST(Npy, ReadingMakesNoCopy) {
  constexpr size_t kBytes = size_t{64} << 20;
  const TemporaryFolder folder;
  const auto path = folder.path() / "m.npy";
  WriteNpy(path, 1024, std::vector<float>(kBytes / sizeof(float), 1));
  const size_t before = ResidentBytes();
  const MappedRows matrix = ReadNpy(path);
  EXPECT_LT(ResidentBytes(), before + kBytes / 4);
  EXPECT_EQ(matrix.values.size() * sizeof(float), kBytes);
}

TEST(Npy, HeaderIsWhatNumPyExpects) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "m.npy";
  WriteNpy(path, 2, std::vector<float>{1, 2});
  const std::string bytes = ReadFile(path);
  EXPECT_EQ(bytes.size(), 128U + 8U);
  EXPECT_EQ(bytes.substr(10, 59), "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }");
  EXPECT_EQ(bytes[127], '\n');
}

TEST(Npy, CutShortOrForeignFilesAreDataErrors) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "m.npy";
  WriteNpy(path, 2, std::vector<float>{1, 2, 3, 4});
  const std::string bytes = ReadFile(path);
  for (size_t length = 0; length < bytes.size(); ++length) {
    WriteFileAtomically(path, bytes.substr(0, length));
    EXPECT_THROW(ReadNpy(path), DataError) << length;
  }
  WriteFileAtomically(path, bytes.substr(0, 8) + char(0x77) + bytes.substr(9) + '\0');
  EXPECT_THROW(ReadNpy(path), DataError);
}

}  // namespace
}  // namespace tandem::embeddings
