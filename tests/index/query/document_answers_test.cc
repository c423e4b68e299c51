#include "index/query/document_answers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "data/texts/passage_groups.h"
#include "index/fake_index.h"

namespace tandem::index {
namespace {

// `documents` documents of 1 to 40 passages, some of which have equal scores for [1].
FakeIndex Passages(size_t documents, uint64_t seed) {
  RandomStream random({.seed = seed, .purpose = "test"});
  std::vector<FakeDocument> passages;
  for (size_t d = 0; d < documents; ++d) {
    const size_t count = 1 + random.Below(40);
    for (size_t p = 0; p < count; ++p) {
      passages.push_back({"d" + std::to_string(d) + "#" + std::to_string(p + 1),
                          "",
                          {static_cast<float>(random.Below(30))}});
    }
  }
  return FakeIndex(std::move(passages));
}

using Ranked = std::vector<std::pair<std::string, float>>;  // documents with their scores

Ranked BruteForce(const FakeIndex& index) {
  std::map<std::string, float> best;
  const float one = 1;
  DocumentQuery query{.count = 1, .k = size_t{1} << 20};
  query.queries = &one;
  const auto found = index.Search(query);
  for (const DocumentHit& hit : found[0]) {
    const std::string id(data::DocumentOfPassage(index.id(hit.document)));
    const auto [at, is_new] = best.emplace(id, hit.score);
    if (!is_new) at->second = std::max(at->second, hit.score);
  }
  Ranked ranked(best.begin(), best.end());
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first > b.first;
  });
  return ranked;
}

TEST(FindDocuments, AreThoseOfARankingOfAllPassages) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const FakeIndex index = Passages(60, seed);
    const Ranked want = BruteForce(index);
    for (const size_t k : {1, 2, 5, 30, 60, 100}) {
      const float queries[] = {1, 0};
      const auto found = FindDocuments(index, queries, 2, {.k = k}, nullptr);
      ASSERT_EQ(found[0].size(), std::min<size_t>(k, 60));
      EXPECT_EQ(found[1].size(), std::min<size_t>(k, 60));
      for (size_t i = 0; i < found[0].size(); ++i) {
        EXPECT_EQ(data::DocumentOfPassage(index.id(found[0][i].document)), want[i].first);
        EXPECT_EQ(found[0][i].score, want[i].second) << "seed " << seed << " rank " << i;
      }
    }
  }
}

TEST(FindDocuments, OfEqualPassagesTheFirstAnswers) {
  const FakeIndex index({{"a#1", "", {1}}, {"a#2", "", {2}}, {"a#3", "", {2}}, {"b", "", {2}}});
  const float query = 1;
  const auto found = FindDocuments(index, &query, 1, {.k = 2}, nullptr);
  ASSERT_EQ(found[0].size(), 2U);
  EXPECT_EQ(index.id(found[0][0].document), "b");
  EXPECT_EQ(index.id(found[0][1].document), "a#2");
}

TEST(FindDocuments, ScoresThatAreTooLowEndTheSearch) {
  const FakeIndex index({{"a#1", "", {1}}, {"a#2", "", {3}}, {"b#1", "", {2}}, {"c#1", "", {1}}});
  const float query = 1;
  const auto found = FindDocuments(index, &query, 1, {.k = 3, .min_score = 2}, nullptr);
  EXPECT_EQ(found[0].size(), 2U);
}

}  // namespace
}  // namespace tandem::index
