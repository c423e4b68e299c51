#include "text/normalizers/bert_normalizer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "text/generated_texts.h"

namespace tandem::text {
namespace {

std::string Normal(std::string_view text, const BertNormalizerOptions& options = {}) {
  std::string out;
  BertNormalizer(options).Normalize(text, &out);
  return out;
}

TEST(BertNormalizer, Examples) {
  EXPECT_EQ(Normal(""), "");
  EXPECT_EQ(Normal("H\u00e9llo\tW\u00d6RLD\r\n"), "hello world  ");
  EXPECT_EQ(Normal(std::string_view("a\0b\u200bc\ufffdd", 11)), "abcd");
  EXPECT_EQ(Normal("ab\u4e2d\u6587"), "ab \u4e2d  \u6587 ");
  EXPECT_EQ(Normal("\u0130\u03a3\u1e9e"), "i\u03c3\u00df");  // no final sigma
  EXPECT_EQ(Normal("\uac01"), "\u1100\u1161\u11a8");
  EXPECT_EQ(Normal("\u0130", {.strip_accents = false}), "i\u0307");
  EXPECT_EQ(Normal("H\u00e9", {.lowercase = false}), "He");
  EXPECT_EQ(Normal("H\u00e9", {.strip_accents = false, .lowercase = false}), "H\u00e9");
  EXPECT_EQ(Normal("a\u00a0\tb", {.clean_text = false}), "a\u00a0\tb");
  EXPECT_EQ(Normal("\u4e2d", {.handle_chinese_chars = false}), "\u4e2d");
}

// U+302E (class 224) and U+1D165 (216) are spacing marks: they stay and change places; the
// nonspacing U+034F between them, a starter, keeps them apart even though it is dropped.
TEST(BertNormalizer, MarksThatStayAreInCanonicalOrder) {
  EXPECT_EQ(Normal("a\u302e\U0001d165b"), "a\U0001d165\u302eb");
  EXPECT_EQ(Normal("a\u302e\u0301\U0001d165b"), "a\U0001d165\u302eb");
  EXPECT_EQ(Normal("a\u302e\u034f\U0001d165b"), "a\u302e\U0001d165b");
  EXPECT_EQ(Normal("a\u302e\u200b\U0001d165b"), "a\U0001d165\u302eb");  // cleaned away first
  EXPECT_EQ(Normal("a\u302e \U0001d165b"), "a\u302e \U0001d165b");
  EXPECT_EQ(Normal("\u302e\U0001d165", {.strip_accents = false}), "\u302e\U0001d165");
}

// The vectorised path works on blocks of 32 bytes, so this puts a block's border at every place.
TEST(BertNormalizer, BlockBordersDoNotShow) {
  const std::string text =
      "The QUICK br\u00f6wn Fox\njumps [over] THE lazy dog; 0123456789 @AZ`az{~";
  const std::string tail = Normal(text);
  for (size_t shift = 0; shift <= 70; ++shift) {
    EXPECT_EQ(Normal(std::string(shift, 'X') + text), std::string(shift, 'x') + tail) << shift;
  }
}

RC_GTEST_PROP(BertNormalizer, CutsAtSpaces, (uint64_t left, uint64_t right, uint8_t flags)) {
  const BertNormalizerOptions options{.clean_text = (flags & 1) != 0,
                                      .handle_chinese_chars = (flags & 2) != 0,
                                      .strip_accents = (flags & 4) != 0,
                                      .lowercase = (flags & 8) != 0};
  const std::string first = RandomText(left);
  std::string second(1, ' ');
  second += RandomText(right);
  RC_ASSERT(Normal(first + second, options) == Normal(first, options) + Normal(second, options));
}

}  // namespace
}  // namespace tandem::text
