#include "import/splits/near_copies.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "import_test.h"

namespace tandem::import_data {
namespace {

using Joined = std::set<std::pair<size_t, size_t>>;

Joined JoinedOf(const std::vector<std::string>& texts) {
  Joined joined;
  JoinNearCopies(
      texts.size(), [&](size_t i) { return std::string_view(texts[i]); },
      [&](size_t a, size_t b) { joined.emplace(a, b); });
  return joined;
}

TEST(NormalText, IsWordsInLowerCase) {
  EXPECT_EQ(NormalText("  What's UP?? "), "what s up");
  EXPECT_EQ(NormalText("ÄRGER, 2_x"), "ärger 2 x");
  EXPECT_EQ(NormalText("???"), "???");
  EXPECT_EQ(NormalText(""), "");
}

TEST(GramSimilarity, IsThatOfSets) {
  EXPECT_EQ(GramSimilarity("abcde", "abcde"), 1);
  EXPECT_DOUBLE_EQ(GramSimilarity("abcde", "abcdf"), 1.0 / 3);  // abcd; bcde, bcdf
  EXPECT_EQ(GramSimilarity("abc", "abd"), 0);                   // shorter than a group: one group
  EXPECT_EQ(GramSimilarity("äöüß", "äöüa"), 0);                 // characters, not bytes
}

TEST(NearCopies, AreFound) {
  const std::vector<std::string> texts = {
      "How do I reset the password of my account on the web page?",
      "Where is the nearest branch of the bank?",
      "how do i reset the password of my account on the web page",
      "How do I reset the passwords of my account on the web page?", "How can I close an account?"};
  EXPECT_GE(GramSimilarity(NormalText(texts[0]), NormalText(texts[3])), NearCopyRules::kLeast);
  EXPECT_EQ(JoinedOf(texts), (Joined{{0, 2}, {0, 3}, {2, 3}}));
}

// Every pair at the least similarity or above, and none below it, among texts of which many are
// near it: all pairs are compared without signatures.
TEST(NearCopies, AreThoseOfAllPairs) {
  std::vector<std::string> texts;
  for (int i = 0; i < 60; ++i) {
    std::string text = "the quick brown fox jumps over the lazy dog and runs away";
    for (int change = 0; change < i % 6; ++change) {
      text[static_cast<size_t>((i * 7 + change * 13) % 50)] = static_cast<char>('a' + i % 26);
    }
    texts.push_back(text);
  }
  Joined expected;
  for (size_t b = 0; b < texts.size(); ++b) {
    for (size_t a = 0; a < b; ++a) {
      const double similarity = GramSimilarity(NormalText(texts[a]), NormalText(texts[b]));
      if (similarity >= NearCopyRules::kLeast) expected.emplace(a, b);
    }
  }
  EXPECT_GT(expected.size(), 50U);
  EXPECT_LT(expected.size(), texts.size() * (texts.size() - 1) / 2);
  EXPECT_EQ(JoinedOf(texts), expected);
}

// More copies than are compared with each other are still connected.
TEST(NearCopies, ManyCopiesAreOneFamily) {
  const std::vector<std::string> texts(1000, "the same text again and again");
  std::vector<size_t> first(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) first[i] = i;
  for (const auto& [a, b] : JoinedOf(texts)) first[b] = std::min(first[b], first[a]);
  for (const size_t i : first) EXPECT_EQ(i, 0U);
}

}  // namespace
}  // namespace tandem::import_data
