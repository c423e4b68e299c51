#include "data/texts/texts.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/hashes/text_hash.h"

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

// Blocks of the arena grow with what it holds; texts larger than a block have their own.
TEST(Texts, TextsOfAllSizesKeepTheirBytes) {
  Texts texts;
  const auto text_of = [](size_t i) {
    const size_t sizes[] = {0, 1, 333, 70'000, 400'000, 3'000'001};
    return std::string(sizes[i % std::size(sizes)], static_cast<char>('a' + i % 26));
  };
  constexpr size_t kCount = 120;
  for (size_t i = 0; i < kCount; ++i) {
    ASSERT_TRUE(texts.Add("id " + std::to_string(i), text_of(i), i % 3 == 1 ? 1 : 0));
  }
  for (size_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(texts.id(i), "id " + std::to_string(i));
    ASSERT_EQ(texts.text(i), text_of(i));
    ASSERT_EQ(texts.title(i).size(), i % 3 == 1 && !text_of(i).empty() ? 1U : 0U) << i;
  }
}

TEST(Texts, HashesAreMadeOnceAndShared) {
  Texts texts;
  EXPECT_TRUE(texts.hashes()->empty());
  constexpr size_t kCount = 50'000;  // more than a thread takes at a time
  for (size_t i = 0; i < kCount; ++i) texts.Add(std::to_string(i), "text " + std::to_string(i % 9));
  std::shared_ptr<const std::vector<uint64_t>> hashes;
  {
    const Texts copy = texts;
    hashes = copy.hashes();
    EXPECT_EQ(texts.hashes(), hashes);
  }
  texts = {};
  ASSERT_EQ(hashes->size(), kCount);  // they outlive the texts
  for (size_t i = 0; i < kCount; ++i) {
    ASSERT_EQ((*hashes)[i], TextHash("text " + std::to_string(i % 9)));
  }
}

TEST(Texts, ThoseWhoseHashesAreKnownDoNotGrow) {
  Texts texts;
  texts.Add("a", "first");
  EXPECT_EQ(texts.hashes()->size(), 1U);
  EXPECT_THROW(texts.Add("b", "second"), std::logic_error);
}

}  // namespace
}  // namespace tandem::data
