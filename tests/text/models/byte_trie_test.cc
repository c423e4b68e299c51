#include "text/models/byte_trie.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::text {
namespace {

ByteTrie MakeTrie(const std::map<std::string, int32_t>& map) {
  std::vector<ByteTrie::Entry> entries;
  for (const auto& [key, value] : map) entries.push_back({key, value});
  return ByteTrie(entries);
}

// Keys over three letters share prefixes; arbitrary bytes fill the nodes.
rc::Gen<std::string> Key() {
  return rc::gen::oneOf(rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab\0", 3))),
                        rc::gen::container<std::string>(rc::gen::arbitrary<char>()));
}

RC_GTEST_PROP(ByteTrie, FindsExactlyItsKeys, ()) {
  const auto map =
      *rc::gen::container<std::map<std::string, int32_t>>(Key(), rc::gen::inRange(0, 1 << 22));
  const ByteTrie trie = MakeTrie(map);
  for (const auto& [key, value] : map) RC_ASSERT(trie.Find(key) == value);
  for (const std::string& key : *rc::gen::container<std::vector<std::string>>(Key())) {
    const auto found = map.find(key);
    RC_ASSERT(trie.Find(key) == (found == map.end() ? ByteTrie::kNone : found->second));
  }
}

RC_GTEST_PROP(ByteTrie, LongestIsTheLongestKeyThatIsAPrefix, ()) {
  const auto map =
      *rc::gen::container<std::map<std::string, int32_t>>(Key(), rc::gen::inRange(0, 100));
  const std::string text = *Key();
  ByteTrie::Match expected;
  for (size_t length = 1; length <= text.size(); ++length) {
    const auto found = map.find(text.substr(0, length));
    if (found != map.end()) expected = {length, found->second};
  }
  const ByteTrie::Match got = MakeTrie(map).Longest(ByteTrie::kRoot, text);
  RC_ASSERT(got.value == expected.value);
  RC_ASSERT(got.length == expected.length);
}

TEST(ByteTrie, WideAndDeep) {
  std::map<std::string, int32_t> map;
  for (int i = 0; i < 256; ++i) {
    for (int j = 0; j < 256; ++j) {
      map[{static_cast<char>(i), static_cast<char>(j)}] = i * 256 + j;
    }
  }
  const std::string deep(1'000'000, 'x');  // no recursion by depth
  map[deep] = ByteTrie::kMaxValue;
  const ByteTrie trie = MakeTrie(map);
  for (const auto& [key, value] : map) ASSERT_EQ(trie.Find(key), value);
  EXPECT_EQ(trie.Find("x"), ByteTrie::kNone);
}

TEST(ByteTrie, EmptyTrieMatchesNothing) {
  const ByteTrie trie;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text(3, static_cast<char>(byte));
    EXPECT_EQ(trie.Longest(ByteTrie::kRoot, text).value, ByteTrie::kNone);
  }
  EXPECT_EQ(trie.Find(""), ByteTrie::kNone);
}

}  // namespace
}  // namespace tandem::text
