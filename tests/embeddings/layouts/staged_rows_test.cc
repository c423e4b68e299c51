#include "embeddings/layouts/staged_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/temporary_folder.h"

namespace tandem::embeddings {
namespace {

class StagedRowsTest : public testing::Test {
 protected:
  static constexpr StagedShape kShape{.rows = 10, .width = 2, .block_rows = 4};
  void Fill(size_t blocks) {
    StagedRows file(path_, kShape);
    for (size_t block = 0; block < blocks; ++block) {
      const size_t rows = std::min<size_t>(4, 10 - block * 4);
      file.Append(std::vector<float>(rows * 2, static_cast<float>(block + 1)));
    }
  }
  size_t WholeRows() { return StagedRows(path_, kShape).whole_rows(); }
  void Alter(size_t offset) {
    std::string bytes = ReadFile(path_);
    bytes[offset] = static_cast<char>(bytes[offset] ^ 1);
    WriteFileAtomically(path_, bytes);
  }
  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "vectors.f32";
};

TEST_F(StagedRowsTest, GoesOnBehindTheLastWholeBlock) {
  EXPECT_EQ(WholeRows(), 0u);
  Fill(2);
  EXPECT_EQ(WholeRows(), 8u);
  EXPECT_EQ(std::filesystem::file_size(path_), 80u);
  StagedRows file(path_, kShape);
  file.Append(std::vector<float>(4, 3.0F));
  EXPECT_EQ(WholeRows(), 10u);
}

TEST_F(StagedRowsTest, WhatIsBehindAnAlteredBlockIsMadeAgain) {
  Fill(3);
  Alter(4 * 2 * sizeof(float) + 1);  // in the second block
  EXPECT_EQ(WholeRows(), 4u);
}

TEST_F(StagedRowsTest, AFileThatWasCutShortIsMadeAgain) {
  Fill(3);
  std::filesystem::resize_file(path_, 79);
  EXPECT_EQ(WholeRows(), 0u);
}

}  // namespace
}  // namespace tandem::embeddings
