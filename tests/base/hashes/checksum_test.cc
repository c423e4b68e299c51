#include "base/hashes/checksum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/files/files.h"
#include "support/temporary_folder.h"

namespace tandem {
namespace {

std::string Pattern(size_t bytes) {
  std::string text(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 2654435761u >> 24);
  return text;
}

class ChecksumTest : public testing::TestWithParam<ChecksumKind> {};

INSTANTIATE_TEST_SUITE_P(Kinds, ChecksumTest,
                         testing::Values(ChecksumKind::kXxh128, ChecksumKind::kFirst));

TEST_P(ChecksumTest, EveryByteCountsAndSoDoesTheLength) {
  const ChecksumKind kind = GetParam();
  for (const size_t size : {1u, 7u, 64u, 65u, 300u}) {
    const std::string text = Pattern(size);
    const Checksum whole = ChecksumOf(text, kind);
    for (size_t i = 0; i < size; ++i) {
      std::string altered = text;
      altered[i] = static_cast<char>(altered[i] ^ 1);
      EXPECT_NE(ChecksumOf(altered, kind), whole) << size << " " << i;
    }
    EXPECT_NE(ChecksumOf(text + '\0', kind), whole);
    EXPECT_NE(ChecksumOf(text.substr(1), kind), whole);
  }
  EXPECT_NE(ChecksumOf("", kind), ChecksumOf(std::string(1, '\0'), kind));
}

// xxhsum -H2 says these of the pieces, and of what it says of them, as bytes.
TEST(Checksum, IsTheXxh128OfTheXxh128sOfItsPieces) {
  EXPECT_EQ(ToHex(ChecksumOf("")), "xxh128:99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(ToHex(ChecksumOf(Pattern(300))), "xxh128:8cc7dc1b8747ae3754f208ca5c7c669a");
  EXPECT_EQ(ToHex(ChecksumOf(Pattern((size_t{9} << 20) + 5))),
            "xxh128:505732a5d35ab43a3f82b900ab59d96f");
}

// What version 1 of the formats wrote.
TEST(Checksum, OfTheFirstKindStaysWhatItWas) {
  const auto first = [](size_t size) {
    return ToHex(ChecksumOf(Pattern(size), ChecksumKind::kFirst));
  };
  EXPECT_EQ(first(0), "133b3f20f5f852e6053e516e0f89bb04");
  EXPECT_EQ(first(300), "6ce311eaa6b95bd7086b5da23bce166f");
  EXPECT_EQ(first((size_t{9} << 20) + 5), "650057c319e5e755ef5c46bb5e3ed093");
}

TEST_P(ChecksumTest, AFileHasTheChecksumOfItsBytesOnAnyNumberOfThreads) {
  const ChecksumKind kind = GetParam();
  const TemporaryFolder folder;
  const std::string text = Pattern((size_t{9} << 20) + 5);  // three pieces
  WriteFileAtomically(folder.path() / "a", text);
  EXPECT_EQ(ChecksumOfFile(folder.path() / "a", text.size(), 1, kind), ChecksumOf(text, kind));
  EXPECT_EQ(ChecksumOfFile(folder.path() / "a", text.size(), 3, kind), ChecksumOf(text, kind));
  std::string exchanged = text;  // two pieces that changed places
  std::swap_ranges(exchanged.begin(), exchanged.begin() + (4 << 20), exchanged.begin() + (4 << 20));
  EXPECT_NE(ChecksumOf(exchanged, kind), ChecksumOf(text, kind));
  EXPECT_THROW(ChecksumOfFile(folder.path() / "a", text.size() + 1, 1, kind), DataError);
}

TEST(Checksum, DigitsReadBack) {
  Checksum checksum{0x0123456789abcdef, 0xfedcba9876543210};
  EXPECT_EQ(ToHex(checksum), "xxh128:0123456789abcdeffedcba9876543210");
  EXPECT_EQ(ChecksumFromHex(ToHex(checksum)), checksum);
  checksum.kind = ChecksumKind::kFirst;
  EXPECT_EQ(ToHex(checksum), "0123456789abcdeffedcba9876543210");
  EXPECT_EQ(ChecksumFromHex(ToHex(checksum)), checksum);
  for (const char* wrong :
       {"", "0123", "0123456789abcdeffedcba987654321g", "-123456789abcdeffedcba9876543210",
        "xxh128:", "xxh64:0123456789abcdeffedcba9876543210",
        "xxh128:xxh128:0123456789abcdeffedcba9876543210"}) {
    EXPECT_FALSE(ChecksumFromHex(wrong).has_value()) << wrong;
  }
}

}  // namespace
}  // namespace tandem
