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

TEST(ChecksumTest, EveryByteCountsAndSoDoesTheLength) {
  for (const size_t size : {1u, 7u, 64u, 65u, 300u}) {
    const std::string text = Pattern(size);
    const Checksum whole = ChecksumOf(text);
    for (size_t i = 0; i < size; ++i) {
      std::string altered = text;
      altered[i] = static_cast<char>(altered[i] ^ 1);
      EXPECT_NE(ChecksumOf(altered), whole) << size << " " << i;
    }
    EXPECT_NE(ChecksumOf(text + '\0'), whole);
    EXPECT_NE(ChecksumOf(text.substr(1)), whole);
  }
  EXPECT_NE(ChecksumOf(""), ChecksumOf(std::string(1, '\0')));
}

TEST(ChecksumTest, AFileHasTheChecksumOfItsBytesOnAnyNumberOfThreads) {
  const TemporaryFolder folder;
  const std::string text = Pattern((size_t{9} << 20) + 5);  // three pieces
  WriteFileAtomically(folder.path() / "a", text);
  EXPECT_EQ(ChecksumOfFile(folder.path() / "a", text.size(), 1), ChecksumOf(text));
  EXPECT_EQ(ChecksumOfFile(folder.path() / "a", text.size(), 3), ChecksumOf(text));
  std::string exchanged = text;  // two pieces that changed places
  std::swap_ranges(exchanged.begin(), exchanged.begin() + (4 << 20), exchanged.begin() + (4 << 20));
  EXPECT_NE(ChecksumOf(exchanged), ChecksumOf(text));
  EXPECT_THROW(ChecksumOfFile(folder.path() / "a", text.size() + 1, 1), DataError);
}

TEST(ChecksumTest, DigitsReadBack) {
  const Checksum checksum{0x0123456789abcdef, 0xfedcba9876543210};
  EXPECT_EQ(ToHex(checksum), "0123456789abcdeffedcba9876543210");
  EXPECT_EQ(ChecksumFromHex(ToHex(checksum)), checksum);
  for (const char* wrong :
       {"", "0123", "0123456789abcdeffedcba987654321g", "-123456789abcdeffedcba9876543210"}) {
    EXPECT_FALSE(ChecksumFromHex(wrong).has_value()) << wrong;
  }
}

}  // namespace
}  // namespace tandem
