#include "base/utf8.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tandem {
namespace {

// Each subpart as The Unicode Standard, table 3-8 and section 3.9, counts them.
TEST(Utf8, OneReplacementForEachMaximalInvalidSubpart) {
  const std::string r = "\xEF\xBF\xBD";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", ""},
      {"plain \xC3\xA9 \xF0\x9F\xA6\x99", "plain \xC3\xA9 \xF0\x9F\xA6\x99"},
      {"\xC0\xAF", r + r},
      {"\xE0\x80\xBF", r + r + r},
      {"\xED\xA0\x80", r + r + r},
      {"\xF4\x91\x92\x93", r + r + r + r},
      {"\xFF"
       "A\x80",
       r + "A" + r},
      {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF"
       "A",
       r + r + r + r + "A"},
      {"\xF0\x80\x80\x41", r + r + r + "A"},
      {"cut \xE2\x82", "cut " + r},
      {"cut \xF0\x9F\xA6", "cut " + r},
      {std::string("\0\xC3\0", 3), std::string("\0", 1) + r + std::string("\0", 1)},
  };
  for (const auto& [bytes, repaired] : cases) EXPECT_EQ(RepairUtf8(bytes), repaired) << bytes;
}

RC_GTEST_PROP(Utf8, RepairOfAnyBytesIsValid, (const std::string& bytes)) {
  const std::string repaired = RepairUtf8(bytes);
  RC_ASSERT(IsUtf8(repaired));
  if (IsUtf8(bytes)) RC_ASSERT(repaired == bytes);
}

TEST(Utf8, EveryCodePointReadsBackForwardsAndBackwards) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string bytes = "x";
    AppendUtf8(c, &bytes);
    ASSERT_TRUE(IsUtf8(bytes)) << static_cast<uint32_t>(c);
    const char* p = bytes.data() + 1;
    ASSERT_TRUE(NextCodePoint(p) == c);
    ASSERT_EQ(p, bytes.data() + bytes.size());
    ASSERT_TRUE(CodePointBefore(p) == c);
  }
}

}  // namespace
}  // namespace tandem
