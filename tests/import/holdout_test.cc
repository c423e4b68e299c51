#include "import/splits/holdout.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "import_test.h"

namespace tandem::import_data {
namespace {

using testing::HasSubstr;
using Positives = std::vector<std::pair<uint32_t, uint32_t>>;
using Groups = std::vector<std::pair<uint32_t, uint64_t>>;

// A text that is no near-copy of another number's.
std::string Unlike(uint32_t number) {
  std::string text;
  for (int word = 0; word < 6; ++word) {
    text += fmt::format("{:x} ", (number + 1) * 2654435761U * static_cast<uint32_t>(2 * word + 1));
  }
  return text;
}

struct Case {
  data::Texts queries;
  Positives positives;
  Groups groups;

  void Add(const std::string& text, uint32_t document) {
    const auto query = static_cast<uint32_t>(queries.size());
    EXPECT_TRUE(queries.Add(fmt::format("q{}", query), text));
    positives.emplace_back(query, document);
  }
  Holdout Split(const HoldoutOptions& options = {.share = 0.2}) const {
    return HoldOut({queries, positives, groups}, options);
  }
};

Case Apart(uint32_t count) {
  Case made;
  for (uint32_t i = 0; i < count; ++i) made.Add(Unlike(i), i);
  return made;
}

TEST(HoldOut, HoldsOutTheShare) {
  const Holdout holdout = Apart(200).Split({.share = 0.2});
  EXPECT_EQ(holdout.test, 20U);
  EXPECT_EQ(holdout.dev, 20U);
  EXPECT_EQ(holdout.train, 160U);
  EXPECT_EQ(holdout.families, 200U);
  EXPECT_EQ(holdout.largest_family, 1U);
  EXPECT_EQ(std::count(holdout.of_query.begin(), holdout.of_query.end(), Split::kTest), 20);
  EXPECT_EQ(std::count(holdout.of_query.begin(), holdout.of_query.end(), Split::kDev), 20);
}

TEST(HoldOut, DependsOnSeedAndTextsAlone) {
  const Case made = Apart(100);
  Case reversed;
  for (uint32_t i = 100; i-- > 0;) reversed.Add(Unlike(i), i);
  const Holdout first = made.Split(), again = made.Split(), other_way = reversed.Split();
  EXPECT_EQ(first.of_query, again.of_query);
  for (size_t i = 0; i < 100; ++i) EXPECT_EQ(first.of_query[i], other_way.of_query[99 - i]) << i;
  EXPECT_NE(first.of_query, made.Split({.share = 0.2, .seed = 2}).of_query);
}

// The splits of any two queries that must stay together are the same.
TEST(HoldOut, KeepsTogetherWhatBelongsTogether) {
  Case made = Apart(100);
  for (uint32_t i = 0; i < 20; ++i) made.Add(Unlike(i) + "!", 1000 + i);  // near-copies
  for (uint32_t i = 20; i < 40; ++i) made.Add(Unlike(1000 + i), i);       // one document
  for (uint32_t i = 40; i < 60; ++i) {
    made.groups.emplace_back(i, i);
    made.groups.emplace_back(static_cast<uint32_t>(made.queries.size()), i);  // one group
    made.Add(Unlike(2000 + i), 2000 + i);
  }
  const Holdout holdout = made.Split({.share = 0.3});
  EXPECT_EQ(holdout.families, 100U);
  EXPECT_EQ(holdout.joined_near_copies, 20U);
  EXPECT_EQ(holdout.largest_family, 2U);
  for (uint32_t i = 0; i < 60; ++i) {
    EXPECT_EQ(holdout.of_query[i], holdout.of_query[100 + i]) << i;
  }
  const Holdout by_queries = made.Split({.share = 0.3, .by_documents = false});
  EXPECT_EQ(by_queries.families, 120U);
}

TEST(HoldOut, QueriesWithoutAPositiveAreTrain) {
  Case made = Apart(40);
  for (uint32_t i = 0; i < 40; ++i) {
    EXPECT_TRUE(made.queries.Add(fmt::format("n{}", i), Unlike(500 + i)));
  }
  const Holdout holdout = made.Split({.share = 0.5});
  EXPECT_EQ(holdout.test, 10U);
  for (size_t i = 40; i < 80; ++i) EXPECT_EQ(holdout.of_query[i], Split::kTrain);
}

TEST(HoldOut, SaysWhatCannotBeSplit) {
  Case made;
  for (uint32_t i = 0; i < 50; ++i) made.Add(Unlike(i), 0);  // one document for all
  const std::string error = ErrorOf(ExitCode::kUsage, [&] { made.Split(); });
  EXPECT_THAT(error, HasSubstr("of 50 queries only 0 can be held out, 10 are asked for: 50 of them "
                               "hang together by the documents that they share"));
  EXPECT_THAT(error, HasSubstr("--split-by queries"));
  EXPECT_EQ(made.Split({.share = 0.2, .by_documents = false}).test, 5U);
  EXPECT_THAT(ErrorOf(ExitCode::kUsage, [] { Apart(3).Split(); }),
              HasSubstr("3 queries with a positive are too few"));
}

TEST(ParseShare, ReadsPercentAndNumbers) {
  EXPECT_DOUBLE_EQ(ParseShare("15%", "--holdout"), 0.15);
  EXPECT_DOUBLE_EQ(ParseShare("0.15", "--holdout"), 0.15);
  EXPECT_EQ(ParseShare("0", "--holdout"), 0);
  for (const char* wrong : {"", "x", "60%", "-1%", "15", "15%%"}) {
    EXPECT_THAT(ErrorOf(ExitCode::kUsage, [&] { ParseShare(wrong, "--holdout"); }),
                HasSubstr("--holdout is \""))
        << wrong;
  }
}

}  // namespace
}  // namespace tandem::import_data
