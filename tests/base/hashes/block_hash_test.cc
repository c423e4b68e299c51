#include "base/hashes/block_hash.h"

#include <gtest/gtest.h>

#include <string>

namespace tandem {
namespace {

// xxhsum -H3 says the same.
TEST(BlockHashTest, IsXxh3) {
  EXPECT_EQ(BlockHash(""), 0x2d06800538d394c2u);
  EXPECT_EQ(BlockHash("abc"), 0x78af5f94892f3950u);
}

TEST(BlockHashTest, ASeedMakesAnother) {
  EXPECT_NE(BlockHash("abc", 1), BlockHash("abc"));
  EXPECT_NE(BlockHash("abc", 1), BlockHash("abc", 2));
  EXPECT_EQ(BlockHash("abc", 2), BlockHash("abc", 2));
}

}  // namespace
}  // namespace tandem
