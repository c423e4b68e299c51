#include "documents/pairing/near_copies.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"

namespace tandem::documents {
namespace {

std::string RandomWords(RandomStream& random, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "w" + std::to_string(random.Below(5000)) + " ";
  return text;
}

TEST(NearCopies, AreTextsOfNearlyTheSameWords) {
  NearCopies texts;
  EXPECT_FALSE(texts.Add("the quick brown fox jumps over the lazy dog"));
  EXPECT_TRUE(texts.Add("The quick, brown fox jumps over the lazy dog!"));
  EXPECT_FALSE(texts.Add("an entirely different text about gloves and hats"));
  EXPECT_FALSE(texts.Add(""));
  EXPECT_FALSE(texts.Add(""));
  EXPECT_FALSE(texts.Add("fox"));
  EXPECT_TRUE(texts.Add("Fox."));
}

// One word of 400 that differs changes 3 of 398 runs of three words: a similarity of 0.985. A half
// that differs leaves one of 1/3.
TEST(NearCopies, FindWhatIsNearAndNotWhatIsFar) {
  RandomStream random({.seed = 1, .purpose = "test"});
  NearCopies texts;
  int near_found = 0, far_found = 0;
  for (int i = 0; i < 50; ++i) {
    const std::string half = RandomWords(random, 200), rest = RandomWords(random, 200);
    EXPECT_FALSE(texts.Add(half + rest));
    near_found += texts.Add(half + "changed " + rest);
    far_found += texts.Add(half + RandomWords(random, 200));
  }
  EXPECT_GE(near_found, 49);
  EXPECT_EQ(far_found, 0);
}

}  // namespace
}  // namespace tandem::documents
