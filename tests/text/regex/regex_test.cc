// Regular expressions of tokenizer.json: what they match, as the `tokenizers` package (0.23.3) has
// it, and what is refused.
#include "text/regex/regex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "text/regex/known_patterns.h"
#include "text/regex/regex_class.h"
#include "text/unicode/categories.h"
#include "text/unicode/code_point_set.h"
#include "text/unicode/unicode.h"

namespace tandem::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> Matches(std::string_view pattern, std::string_view text) {
  std::vector<std::string> matches;
  Regex(pattern).ForEachMatch(text, [&](size_t begin, size_t end) {
    matches.emplace_back(text.substr(begin, end - begin));
  });
  return matches;
}

// Tries every code point, each after a line end, which starts a new match.
CodePointSet Members(std::string_view pattern) {
  std::string text;
  CodePointSet members;
  for (const CodePointSet all(0, kLastCodePoint); const auto& range : all.ranges()) {
    for (char32_t c = range.first; c <= range.last; ++c) AppendUtf8(c, &text);
  }
  Regex(pattern).ForEachMatch(text, [&](size_t begin, size_t end) {
    for (const char* p = text.data() + begin; p < text.data() + end;) {
      const char32_t c = NextCodePoint(p);
      members.Add({c, c});
    }
  });
  return members;
}

uint32_t Mask(std::initializer_list<Category> categories) {
  uint32_t mask = 0;
  for (const Category category : categories) mask |= uint32_t{1} << static_cast<int>(category);
  return mask;
}

// PCRE2's version of Unicode must not show.
TEST(Regex, PropertiesAreThePackagesForEveryCharacter) {
  using enum Category;
  const CodePointSet letters = CodePointSet::OfCategories(Mask({kLu, kLl, kLt, kLm, kLo}));
  const CodePointSet numbers = CodePointSet::OfCategories(Mask({kNd, kNl, kNo}));
  EXPECT_EQ(letters.ranges().size(), 677U);
  EXPECT_TRUE(letters.Contains(0x31350));  // Unicode 15
  EXPECT_TRUE(letters.Contains(0x1C89));   // Unicode 16
  EXPECT_EQ(Members(R"(\p{L}+)"), letters);
  EXPECT_EQ(Members(R"(\p{N}+)"), numbers);
  EXPECT_EQ(Members(R"(\P{L}+)"), letters.Complement());
  EXPECT_EQ(Members(R"([^\p{L}\p{N}]+)"), [&] {
    CodePointSet both = letters;
    both.Add(numbers);
    return both.Complement();
  }());
  EXPECT_EQ(Members(R"(\w+)"), CodePointSet::OfWordCharacters());
  EXPECT_EQ(Members(R"(\W+)"), CodePointSet::OfWordCharacters().Complement());
  EXPECT_EQ(Members(R"(\d+)"), CodePointSet::OfCategories(Mask({kNd})));
  EXPECT_EQ(Members(R"(\p{Mn}+)"), CodePointSet::OfCategories(Mask({kMn})));
  EXPECT_EQ(Members(R"(\p{Cn}+)"), CodePointSet::OfCategories(Mask({kCn})));
  EXPECT_EQ(Members(R"([\p{P}\p{S}\p{M}]+)"),
            CodePointSet::OfCategories(
                Mask({kPc, kPd, kPs, kPe, kPi, kPf, kPo, kSm, kSc, kSk, kSo, kMn, kMc, kMe})));
  EXPECT_EQ(Members(R"([\p{Lu}&&[^A-Z]]+)"),
            CodePointSet::OfCategories(Mask({kLu})).Without({'A', 'Z'}));
}

// 25 characters; U+180E and U+001C to U+001F are none of them.
TEST(Regex, WhiteSpace) {
  CodePointSet spaces(0x9, 0xD);
  for (const char32_t c : {0x20, 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000}) {
    spaces.Add({c, c});
  }
  spaces.Add({0x2000, 0x200A});
  EXPECT_EQ(Members(R"(\s+)"), spaces);
  EXPECT_EQ(Members(R"(\S+)"), spaces.Complement());
}

// A class keeps its meaning where PCRE2 takes a property for less, for more, and for other
// characters than the package does: Cn of Unicode 14 and 16 differ both ways from one another.
TEST(Regex, ClassesOfWhatThePropertiesDoNotCover) {
  EXPECT_EQ(Members(R"([\p{Cn}\p{Lu}]+)"), [] {
    CodePointSet set = CodePointSet::OfCategories(Mask({Category::kCn, Category::kLu}));
    return set;
  }());
  EXPECT_EQ(Members(R"([^\p{Cn}]+)"),
            CodePointSet::OfCategories(Mask({Category::kCn})).Complement());
  EXPECT_EQ(Pcre2Class({'a', 'c'}, true), R"([^\x{61}-\x{63}])");
  EXPECT_EQ(Pcre2Class(CodePointSet(), false), "(?!)");
}

TEST(Regex, MatchesAsThePackageDoes) {
  EXPECT_THAT(Matches("(?i:'s|'t|'re)", "a'Sb'\u017fc'Tdd'RE'"),
              ElementsAre("'S", "'\u017f", "'T", "'RE"));
  EXPECT_THAT(Matches("^a", "ab\nac\ra"), ElementsAre("a", "a"));
  EXPECT_THAT(Matches("b$", "ab\nab"), ElementsAre("b", "b"));
  EXPECT_THAT(Matches(R"(\Aa|b\z)", "aa\nabb"), ElementsAre("a", "b"));
  EXPECT_THAT(Matches(".+", "a\nb\r\u2028c"), ElementsAre("a", "b\r\u2028c"));
  EXPECT_THAT(Matches(R"(\bfor\b)", "for x.for_ for\u0301"), ElementsAre("for"));
  EXPECT_THAT(Matches("a{,2}", "aaa"), ElementsAre("aa", "a"));
  EXPECT_THAT(Matches("a{x", "a{x"), ElementsAre("a{x"));
  EXPECT_THAT(Matches("a{2}b{1,}", "aabbab"), ElementsAre("aabb"));
  EXPECT_THAT(Matches("x*", "axxb"), ElementsAre("", "xx", ""));
  EXPECT_THAT(Matches("", "\u00e9b"), ElementsAre("", "", ""));
  EXPECT_THAT(Matches(R"([a[bc]d]+)", "xabcdx"), ElementsAre("abcd"));
  EXPECT_THAT(Matches(R"([^a[bc]]+)", "xabcy"), ElementsAre("x", "y"));
  EXPECT_THAT(Matches(R"([a-z&&[^b]]+)", "abc"), ElementsAre("a", "c"));
  EXPECT_THAT(Matches(R"([^(\s|[.,!?])]+)", "ab (c|d), e"), ElementsAre("ab", "c", "d", "e"));
  EXPECT_THAT(Matches(R"(\x41\u0042\x{43}\h)", "ABCf"), ElementsAre("ABCf"));
  EXPECT_THAT(Matches(R"((?<=a)b|(?<!a)c)", "abbacc"), ElementsAre("b", "c"));
  EXPECT_THAT(Matches(R"((?>a|ab)c|(d|e)+?f)", "abcdef"), ElementsAre("def"));
  EXPECT_THAT(Matches(R"(\s+(?!\S)|\s+)", "a   b"), ElementsAre("  ", " "));
  EXPECT_THAT(Matches(R"([\-\]\\^$.*+?{}|()/-]+)", "a-]\\^$.*+?{}|()/b"),
              ElementsAre("-]\\^$.*+?{}|()/"));
}

TEST(Regex, AStringMatchesItself) {
  std::vector<size_t> starts;
  Regex::Of("a.[\u4e2d").ForEachMatch("a.[\u4e2daX[\u4e2da.[\u4e2d", [&](size_t begin, size_t) {
    starts.push_back(begin);
  });
  EXPECT_THAT(starts, ElementsAre(0, 12));
}

TEST(Regex, WhatIsNotSupportedIsSaid) {
  const auto error_of = [](std::string_view pattern) -> std::string {
    try {
      const Regex regex(pattern);
      return "accepted";
    } catch (const PatternError& error) {
      return error.what();
    }
  };
  EXPECT_THAT(error_of(R"(\p{Han})"),
              HasSubstr("the property \"Han\" is not supported; supported: L"));
  EXPECT_THAT(error_of("(a"), HasSubstr("a group is not closed"));
  EXPECT_THAT(error_of("a)"), HasSubstr("closes no group"));
  EXPECT_THAT(error_of("[a"), HasSubstr("a class is not closed"));
  EXPECT_THAT(error_of("[]a]"), HasSubstr("a class starts with \"]\""));
  EXPECT_THAT(error_of("[[:alpha:]]"), HasSubstr("[:alpha:]"));
  EXPECT_THAT(error_of(R"([\w-z])"), HasSubstr("starts at a class"));
  EXPECT_THAT(error_of(R"([a-\w])"), HasSubstr("ends at a class"));
  EXPECT_THAT(error_of("[b-a]"), HasSubstr("ends before it starts"));
  EXPECT_THAT(error_of("a**"), HasSubstr("quantifier"));
  EXPECT_THAT(error_of("*a"), HasSubstr("quantifier"));
  EXPECT_THAT(error_of("a{2}{3}"), HasSubstr("quantifier"));
  EXPECT_THAT(error_of("a{2}+"), HasSubstr("\"+\" after an interval"));
  EXPECT_THAT(error_of("a{3,2}"), HasSubstr("n > m"));
  EXPECT_THAT(error_of("a{99999}"), HasSubstr("too large"));
  EXPECT_THAT(error_of("(?x)a"), HasSubstr("the group \"(?x)\" is not supported"));
  EXPECT_THAT(error_of(R"((a)\1)"), HasSubstr("the escape \"\\1\" is not supported"));
  EXPECT_THAT(error_of(R"(\xE9)"), HasSubstr("\\x80 to \\xFF"));
  EXPECT_THAT(error_of(R"(\u12)"), HasSubstr("names no character"));
  EXPECT_THAT(error_of(R"(\x{110000})"), HasSubstr("names no character"));
  EXPECT_THAT(error_of("a\\"), HasSubstr("ends too early"));
  EXPECT_THAT(error_of("(?i:ss)"), HasSubstr("\"ss\" inside (?i:..)"));
  EXPECT_THAT(error_of("(?i:\u00e9)"), HasSubstr("only ASCII"));
  EXPECT_THAT(error_of("(?i:[a-z])"), HasSubstr("some letters inside (?i:..)"));
  EXPECT_THAT(error_of("(?<=a+)b"), HasSubstr("lookbehind"));  // PCRE2's own words
  EXPECT_THAT(error_of(std::string(200, '(') + std::string(200, ')')), HasSubstr("nested"));
  EXPECT_THAT(error_of(std::string(50, '[') + "a" + std::string(50, ']')), HasSubstr("nested"));
}

// The patterns of known tokenizers take time in proportion to the text, whatever it is.
TEST(Regex, LongTexts) {
  const Regex regex(kGpt2Pattern);
  const Regex lines(R"(\s*[\r\n]+|\s+(?!\S)|\s+|[^\s]+)");
  const auto start = std::chrono::steady_clock::now();
  for (const std::string_view unit : {" ", "a", "\n ", "\u00a0", "'", "1", "\u4e2d", ".", " a"}) {
    std::string text;
    while (text.size() < 1'000'000) text += unit;
    for (const std::string_view end : {"", "x", "\n"}) {
      for (const Regex* each : {&regex, &lines}) {
        size_t covered = 0;
        each->ForEachMatch(text + std::string(end),
                           [&](size_t begin, size_t stop) { covered += stop - begin; });
        EXPECT_EQ(covered, text.size() + end.size()) << unit;
      }
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 60) << "quadratic time would be hours";
}

// Time that grows exponentially ends in an error, not in a wrong result.
TEST(Regex, TooManyStepsAreAnError) {
  const Regex regex("(a|aa|aaa)+(b|c)+[de]");
  try {
    regex.ForEachMatch(std::string(200, 'a') + std::string(200, 'b'), [](size_t, size_t) {});
    FAIL() << "accepted";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("the tokenizer's regular expression cannot search 400 bytes"));
  }
}

// Groups within a repetition need a stack, which machine code and interpreter must both have.
TEST(Regex, DeepStacks) {
  const std::string text(3'000'000, 'a');
  size_t matched = 0;
  Regex("(a|b(?=c))+").ForEachMatch(text, [&](size_t begin, size_t end) { matched = end - begin; });
  EXPECT_EQ(matched, text.size());
}

}  // namespace
}  // namespace tandem::text
