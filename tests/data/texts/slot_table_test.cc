#include "data/texts/slot_table.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <unordered_map>
#include <vector>

namespace tandem::data {
namespace {

// Against std::unordered_map, with hashes that collide: some keys share all bits of their hash.
TEST(SlotTable, FindsWhatWasInserted) {
  std::mt19937 random(11);
  for (const uint64_t hashes : {uint64_t{1}, uint64_t{50}, UINT64_MAX}) {
    SlotTable table;
    std::vector<uint32_t> keys;
    std::unordered_map<uint32_t, uint32_t> expected;
    const auto hash_of = [&](uint32_t key) { return key * uint64_t{0x9e3779b97f4a7c15} % hashes; };
    for (int i = 0; i < 3000; ++i) {
      const auto key = static_cast<uint32_t>(random() % 2000);
      const auto is_key = [&](uint32_t index) { return keys[index] == key; };
      const auto index = static_cast<uint32_t>(keys.size());
      const auto known = expected.find(key);
      const std::optional<uint32_t> want =
          known == expected.end() ? std::nullopt : std::optional(known->second);
      ASSERT_EQ(table.Find(hash_of(key), is_key), want);
      if (i % 2 == 0) {
        ASSERT_EQ(table.FindOrInsert(hash_of(key), index, is_key), want);
      } else if (!want) {
        table.Insert(hash_of(key), index);
      }
      if (!want) {
        expected.emplace(key, index);
        keys.push_back(key);
      }
      ASSERT_EQ(table.Find(hash_of(key), is_key), expected.at(key));
    }
  }
}

TEST(SlotTable, IsEmptyAfterClear) {
  SlotTable table;
  const auto always = [](uint32_t) { return true; };
  EXPECT_EQ(table.Find(7, always), std::nullopt);
  EXPECT_EQ(table.FindOrInsert(7, 3, always), std::nullopt);
  EXPECT_EQ(table.Find(7, always), 3U);
  table.Clear();
  EXPECT_EQ(table.Find(7, always), std::nullopt);
  EXPECT_EQ(table.FindOrInsert(7, 4, always), std::nullopt);
  EXPECT_EQ(table.FindOrInsert(7, 5, always), 4U);
}

}  // namespace
}  // namespace tandem::data
