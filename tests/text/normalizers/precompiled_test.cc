// Character maps: how clusters and characters are looked up, and broken ones.
#include "text/normalizers/precompiled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/generated_texts.h"
#include "text/normalizers/character_map.h"
#include "text/normalizers/charsmap.h"
#include "text/unicode/graphemes.h"

namespace tandem::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Pairs = std::vector<std::pair<std::string_view, std::string>>;

std::string MapOf(const Pairs& pairs) {
  CharsmapBuilder builder;
  for (const auto& [key, value] : pairs) builder.Add(key, value);
  return builder.Build();
}

std::string Form(const Precompiled& normalizer, std::string_view text) {
  std::string form;
  normalizer.Normalize(text, &form);
  return form;
}

std::vector<std::string> Clusters(std::string_view text) {
  std::vector<std::string> clusters;
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    const char* const next = ClusterEnd(p, end);
    clusters.emplace_back(p, next);
    p = next;
  }
  return clusters;
}

TEST(Graphemes, Clusters) {
  EXPECT_THAT(Clusters("ab\u0301c"), ElementsAre("a", "b\u0301", "c"));
  EXPECT_THAT(Clusters("\r\n\n\r\u0301"), ElementsAre("\r\n", "\n", "\r", "\u0301"));
  EXPECT_THAT(Clusters("\u1100\u1161\u11a8\u1100"), ElementsAre("\u1100\u1161\u11a8", "\u1100"));
  EXPECT_THAT(Clusters("\uac00\u11a8\uac01\u1161"),
              ElementsAre("\uac00\u11a8", "\uac01", "\u1161"));
  EXPECT_THAT(Clusters("\u0600ab"), ElementsAre("\u0600a", "b"));
  EXPECT_THAT(Clusters("\u0600\n"), ElementsAre("\u0600", "\n"));
  EXPECT_THAT(Clusters("\u2764\ufe0f\u200d\u2764a"), ElementsAre("\u2764\ufe0f\u200d\u2764", "a"));
  EXPECT_THAT(Clusters("a\u200d\u2764"), ElementsAre("a\u200d", "\u2764"));
  EXPECT_THAT(Clusters("\u2764\u094d\u200d\u2764"), ElementsAre("\u2764\u094d\u200d\u2764"));
  EXPECT_THAT(Clusters("\u2764\u0301\u200d\u2764"), ElementsAre("\u2764\u0301\u200d\u2764"));
  EXPECT_THAT(Clusters("\u2764\u200c\u200d\u2764"), ElementsAre("\u2764\u200c\u200d\u2764"));
}

// Rule GB9c: consonant, linker (U+094D), consonant, with extending characters anywhere between
// them. As the `tokenizers` package (0.23.3) joins them.
TEST(Graphemes, LinkersJoinConsonants) {
  EXPECT_THAT(Clusters("\u0915\u094d\u0915\u0915"), ElementsAre("\u0915\u094d\u0915", "\u0915"));
  for (const std::string joined :
       {"\u0915\u094d\u0995", "\u0915\u094d\u094d\u0915", "\u0915\u094d\u200d\u0915",
        "\u0915\u200d\u094d\u0915", "\u0915\u094d\u093c\u0915", "\u0915\u093c\u094d\u0915",
        "\u0915\u094d\u0301\u200d\u0915"}) {
    EXPECT_THAT(Clusters(joined), ElementsAre(joined));
  }
  // No linker, no consonant before it, or U+200C, which keeps them apart.
  for (const std::string before : {"\u0915\u0903", "\u0915\u093c", "\u0915\u200d", "a\u094d",
                                   "\u094d", "\u0915\u094d\u200c", "\u0915\u200c\u094d"}) {
    EXPECT_THAT(Clusters(before + "\u0915"), ElementsAre(before, "\u0915"));
  }
}

TEST(Precompiled, ShortClustersThatStartWithAKeyBecomeItsValue) {
  const Precompiled normalizer(
      MapOf({{"\u2460", "1"}, {"e\u0301", "\u00e9"}, {"o", "0"}, {"oo", "8"}, {"\u200b", ""}}));
  EXPECT_EQ(Form(normalizer, "\u2460"), "1");
  EXPECT_EQ(Form(normalizer, "\u2460\u0301x"), "1x");  // five bytes: the accent is lost
  EXPECT_EQ(Form(normalizer, "\u2460\u0301\u0301"), "1\u0301\u0301");  // seven: each for itself
  EXPECT_EQ(Form(normalizer, "e\u0301e"), "\u00e9e");
  EXPECT_EQ(Form(normalizer, "e\u0301\u0323"), "\u00e9");
  EXPECT_EQ(Form(normalizer, "e\u0301\u0323\u0323"), "e\u0301\u0323\u0323");
  EXPECT_EQ(Form(normalizer, "ooo"), "000");  // the shortest key counts
  EXPECT_EQ(Form(normalizer, "a\u200bb"), "ab");
  EXPECT_EQ(Form(normalizer, ""), "");
  EXPECT_EQ(Form(normalizer, std::string_view("a\0b", 3)), std::string("a\0b", 3));
}

// Printable characters of ASCII are copied in blocks; this puts a block's border at every place.
TEST(Precompiled, BlockBordersDoNotShow) {
  const Precompiled normalizer(MapOf({{"e\u0301", "E"}, {"\t", " "}}));
  const std::string text = "some words,\tand an e\u0301, in more than 32 bytes and e\u0301";
  const std::string expected = "some words, and an E, in more than 32 bytes and E";
  for (size_t shift = 0; shift <= 70; ++shift) {
    EXPECT_EQ(Form(normalizer, std::string(shift, 'x') + text), std::string(shift, 'x') + expected);
  }
}

TEST(Precompiled, WhereItMayBeCut) {
  EXPECT_EQ(Precompiled(MapOf({{"\t", " "}})).cuts(), Cuts::kAfterAscii);
  EXPECT_EQ(Precompiled(MapOf({{"a\u0301", "b"}})).cuts(), Cuts::kAfterAscii);
  for (const std::string_view key : {"a", " ", " \u0301", "\u0600", "\u0600a"}) {
    EXPECT_EQ(Precompiled(MapOf({{key, "x"}})).cuts(), Cuts::kNowhere) << key;
  }
}

RC_GTEST_PROP(Precompiled, CutsAfterAscii, (uint64_t left, uint64_t right)) {
  static const Precompiled normalizer(
      MapOf({{"\u2460", "1"}, {"a\u0301", "\u00e1"}, {"\r", " "}, {"\u0301", ""}}));
  const std::string first = ClusterText(left) + "a";
  std::string second(1, ' ');
  second += ClusterText(right);
  RC_ASSERT(Form(normalizer, first + second) == Form(normalizer, first) + Form(normalizer, second));
}

void ExpectBroken(const std::string& map, const std::string& message) {
  try {
    ReadCharacterMap(map);
    FAIL() << "accepted; expected: " << message;
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr(message));
  }
}

// A map whose array is `units`.
std::string MapOfUnits(const std::vector<uint32_t>& units, const std::string& values = "x") {
  std::string map(4 + 4 * units.size(), '\0');
  const auto size = static_cast<uint32_t>(4 * units.size());
  std::memcpy(map.data(), &size, 4);
  if (!units.empty()) std::memcpy(map.data() + 4, units.data(), size);
  return map + values;
}

TEST(CharacterMap, BrokenOnesSayWhatIsBroken) {
  ExpectBroken("", "it ends before the size of its array");
  ExpectBroken("abc", "it ends before the size of its array");
  ExpectBroken(MapOfUnits({}), "its array has 0 bytes, of 1 that are left");
  ExpectBroken(std::string("\x05\0\0\0abcdefgh", 12), "its array has 5 bytes, of 8 that are left");
  ExpectBroken(std::string("\x08\0\0\0abcd", 8), "its array has 8 bytes, of 4 that are left");
  ExpectBroken(MapOfUnits({1U << 10}), "its array of 1 units refers to unit 3");
  ExpectBroken(MapOfUnits(std::vector<uint32_t>(256, 1U << 20)),
               "its array of 256 units refers to unit 1025");
  std::vector<uint32_t> loop(256);
  for (uint32_t i = 0; i < 256; ++i) loop[i] = i | i << 10;
  ExpectBroken(MapOfUnits(loop), "its array has a loop");
  const std::string good = MapOf({{"a", "bc"}});
  EXPECT_EQ(ReadCharacterMap(good).size(), 1U);
  ExpectBroken(good.substr(0, good.size() - 3), "a value starts at byte 0 of 0");
  ExpectBroken(MapOf({{"\xC3", "b"}}), "a key is not UTF-8");
  ExpectBroken(MapOf({{"a", "\xC3"}}), "a value is not UTF-8");
}

TEST(CharacterMap, AnyByteChanged) {
  const std::string good = MapOf({{"a", "b"}, {"\u00e9", "cd"}});
  for (size_t i = 0; i < good.size(); ++i) {
    for (const char change : {'\x01', '\x80', '\xFF'}) {
      std::string changed = good;
      changed[i] = static_cast<char>(changed[i] ^ change);
      try {
        EXPECT_FALSE(Form(Precompiled(changed), "a\u00e9b").empty() && i < 4);
      } catch (const std::invalid_argument&) {
      }
    }
  }
}

}  // namespace
}  // namespace tandem::text
