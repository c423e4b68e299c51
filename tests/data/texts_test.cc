#include "data/texts.h"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace tandem::data {
namespace {

// Views into the arena survive growth and moves; ids are found among many.
TEST(Texts, ManyTextsKeepTheirIds) {
  Texts texts;
  for (int i = 0; i < 20000; ++i) {
    ASSERT_TRUE(texts.Add(std::to_string(i), std::string(static_cast<size_t>(i % 97), 'x')));
  }
  const std::string_view early = texts.id(3);
  const Texts moved = std::move(texts);
  EXPECT_EQ(early, "3");
  EXPECT_EQ(moved.size(), 20000U);
  for (uint32_t i = 0; i < 20000; ++i) {
    ASSERT_EQ(moved.Find(std::to_string(i)), i);
    ASSERT_EQ(moved.text(i).size(), i % 97);
  }
  EXPECT_EQ(moved.Find("20000"), std::nullopt);
  EXPECT_EQ(moved.Find(""), std::nullopt);
}

TEST(Texts, CopiesShareTheBytesAndDoNotGrow) {
  Texts texts;
  EXPECT_EQ(texts.size(), 0U);
  EXPECT_EQ(texts.Find("a"), std::nullopt);
  texts.Add("a", "first");
  {
    const Texts copy = texts;
    EXPECT_EQ(copy.text(0).data(), texts.text(0).data());
    EXPECT_EQ(copy.Find("a"), 0U);
    EXPECT_THROW(texts.Add("b", "second"), std::logic_error);
  }
  EXPECT_TRUE(texts.Add("b", "second"));  // the copy is gone
  const Texts moved = std::move(texts);
  EXPECT_EQ(moved.size(), 2U);
  EXPECT_EQ(texts.size(), 0U);  // NOLINT(bugprone-use-after-move): texts that moved are none
  EXPECT_TRUE(texts.Add("c", "new"));
}

TEST(Texts, AnIdThatIsThereAddsNothing) {
  Texts texts;
  EXPECT_TRUE(texts.Add("a", "first"));
  EXPECT_FALSE(texts.Add("a", "second"));
  EXPECT_EQ(texts.size(), 1U);
  EXPECT_EQ(texts.text(0), "first");
}

}  // namespace
}  // namespace tandem::data
