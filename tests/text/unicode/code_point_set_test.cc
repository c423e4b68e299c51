#include "text/unicode/code_point_set.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "text/unicode/unicode.h"

namespace tandem::text {
namespace {

// Sets of a few dozen characters, whose operations std::set does too.
constexpr char32_t kEnd = 48;

using Members = std::set<char32_t>;

CodePointSet SetOf(const Members& members) {
  CodePointSet set;
  for (const char32_t c : members) set.Add({c, c});
  return set;
}

Members MembersBelowTheEnd(const CodePointSet& set) {
  Members members;
  for (char32_t c = 0; c < kEnd; ++c) {
    if (set.Contains(c)) members.insert(c);
  }
  return members;
}

Members AnyMembers() {
  return *rc::gen::container<Members>(rc::gen::cast<char32_t>(rc::gen::inRange<uint32_t>(0, kEnd)));
}

void CheckRanges(const CodePointSet& set) {
  for (size_t i = 1; i < set.ranges().size(); ++i) {
    RC_ASSERT(set.ranges()[i - 1].last + 1 < set.ranges()[i].first);
  }
}

RC_GTEST_PROP(CodePointSet, OperationsAreThoseOfSets, ()) {
  const Members first = AnyMembers(), second = AnyMembers();
  const CodePointSet a = SetOf(first), b = SetOf(second);
  RC_ASSERT(MembersBelowTheEnd(a) == first);
  Members joined = first, left, shared;
  joined.insert(second.begin(), second.end());
  for (const char32_t c : first) (second.contains(c) ? shared : left).insert(c);
  CodePointSet sum = a;
  sum.Add(b);
  for (const CodePointSet& set : {a, sum, a.Without(b), a.And(b)}) CheckRanges(set);
  RC_ASSERT(MembersBelowTheEnd(sum) == joined);
  RC_ASSERT(a.Without(b) == SetOf(left));
  RC_ASSERT(a.And(b) == SetOf(shared));
  RC_ASSERT(a.Complement().Complement() == a);
  RC_ASSERT(a.Contains(b) == (shared == second));
  RC_ASSERT(sum.Contains(a));
  RC_ASSERT(sum.Contains(b));
}

TEST(CodePointSet, NoSetHasSurrogates) {
  const CodePointSet all(0, kLastCodePoint);
  EXPECT_EQ(all.ranges(), (std::vector<CodePointSet::Range>{{0, 0xD7FF}, {0xE000, 0x10FFFF}}));
  EXPECT_TRUE(all.Complement().empty());
  EXPECT_EQ(CodePointSet().Complement(), all);
  EXPECT_EQ(CodePointSet('b', 'c').Complement().ranges(),
            (std::vector<CodePointSet::Range>{{0, 'a'}, {'d', 0xD7FF}, {0xE000, 0x10FFFF}}));
  EXPECT_TRUE(all.Contains(CodePointSet(0xD000, 0xF000)));
  EXPECT_FALSE(CodePointSet(0xD000, 0xF000).Contains(all));
  EXPECT_TRUE(CodePointSet().Contains(CodePointSet()));
}

}  // namespace
}  // namespace tandem::text
