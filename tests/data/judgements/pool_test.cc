#include "data/judgements/pool.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "data/data_test.h"

namespace tandem::data {
namespace {

Texts Corpus(const std::vector<int>& order) {
  Texts texts;
  for (const int d : order) {
    const std::string title = fmt::format("title {}", d);
    texts.Add(fmt::format("d{}", d), fmt::format("{} text {}", title, d), title.size());
  }
  return texts;
}

std::vector<int> Ascending(int count) {
  std::vector<int> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(i);
  return numbers;
}

std::set<std::string> IdsOf(const Pool& pool) {
  std::set<std::string> ids;
  for (size_t d = 0; d < pool.documents.size(); ++d) ids.emplace(pool.documents.id(d));
  return ids;
}

// Query 0 has d3 and d90, query 1 d3 and d7, whatever the grade.
std::vector<JudgedQuery> Judged(const Texts& corpus) {
  const auto at = [&](const char* id) { return *corpus.Find(id); };
  return {{0, {{at("d3"), 2.0}, {at("d90"), 0.0}}}, {1, {{at("d3"), 1.0}, {at("d7"), -1.0}}}};
}

TEST(DrawPool, HasEverythingJudgedAndAsManyDocumentsAsAskedFor) {
  const Texts corpus = Corpus(Ascending(200));
  const std::vector<JudgedQuery> judged = Judged(corpus);
  const Pool pool = DrawPool(corpus, judged, 20, 1);
  ASSERT_EQ(pool.documents.size(), 20U);
  EXPECT_EQ(pool.corpus, 200U);
  EXPECT_EQ(pool.judged_documents, 3U);
  for (const char* id : {"d3", "d7", "d90"}) EXPECT_TRUE(pool.documents.Find(id)) << id;
  for (size_t q = 0; q < judged.size(); ++q) {
    EXPECT_EQ(pool.judged[q].query, judged[q].query);
    for (size_t j = 0; j < judged[q].judgements.size(); ++j) {
      EXPECT_EQ(pool.documents.id(pool.judged[q].judgements[j].document),
                corpus.id(judged[q].judgements[j].document));
      EXPECT_EQ(pool.judged[q].judgements[j].grade, judged[q].judgements[j].grade);
    }
  }
  for (size_t d = 0; d < 20; ++d) {
    const uint32_t from = pool.of_corpus[d];
    EXPECT_EQ(pool.documents.id(d), corpus.id(from));
    EXPECT_EQ(pool.documents.text(d), corpus.text(from));
    EXPECT_EQ(pool.documents.title(d), corpus.title(from));
    if (d > 0) {
      EXPECT_LT(pool.of_corpus[d - 1], from);
    }
  }
}

TEST(DrawPool, DependsOnTheSeedAndNotOnTheOrderOfTheCorpus) {
  const Texts corpus = Corpus(Ascending(200));
  std::vector<int> backwards = Ascending(200);
  std::reverse(backwards.begin(), backwards.end());
  const Texts other = Corpus(backwards);
  const auto draw = [](const Texts& texts, uint64_t seed) {
    return IdsOf(DrawPool(texts, Judged(texts), 30, seed));
  };
  EXPECT_EQ(draw(corpus, 1), draw(corpus, 1));
  EXPECT_EQ(draw(corpus, 1), draw(other, 1));
  EXPECT_NE(draw(corpus, 1), draw(corpus, 2));
}

TEST(DrawPool, ASmallerPoolIsAPartOfALargerOne) {
  const Texts corpus = Corpus(Ascending(300));
  const std::vector<JudgedQuery> judged = Judged(corpus);
  std::set<std::string> smaller;
  for (const size_t size : {3, 4, 17, 150, 299, 300}) {
    const std::set<std::string> ids = IdsOf(DrawPool(corpus, judged, size, 5));
    EXPECT_EQ(ids.size(), size);
    EXPECT_TRUE(std::includes(ids.begin(), ids.end(), smaller.begin(), smaller.end())) << size;
    smaller = ids;
  }
}

TEST(DrawPool, DrawsEveryDocumentAboutEquallyOften) {
  const Texts corpus = Corpus(Ascending(100));
  std::vector<int> drawn(100);
  for (uint64_t seed = 0; seed < 400; ++seed) {
    for (const uint32_t d : DrawPool(corpus, {}, 25, seed).of_corpus) ++drawn[d];
  }
  // 100 times each, with a standard deviation of 8.7.
  const auto [fewest, most] = std::minmax_element(drawn.begin(), drawn.end());
  EXPECT_GT(*fewest, 60);
  EXPECT_LT(*most, 140);
}

TEST(DrawPool, BeyondWhatThereIsItSaysSo) {
  const Texts corpus = Corpus(Ascending(100));
  const std::vector<JudgedQuery> judged = Judged(corpus);
  const Pool whole = DrawPool(corpus, judged, 100, 1);
  EXPECT_TRUE(whole.is_whole());
  EXPECT_EQ(IdsOf(DrawPool(corpus, judged, 1000, 1)), IdsOf(whole));
  EXPECT_EQ(PoolText(whole, 1000),
            "all 100 documents: a pool of 1000 has room for the whole corpus");
  const Pool few = DrawPool(corpus, judged, 2, 1);
  EXPECT_EQ(IdsOf(few), (std::set<std::string>{"d3", "d7", "d90"}));
  EXPECT_EQ(PoolText(few, 2),
            "a pool of 3 of 100 documents: the judged ones alone, which are more than 2");
  EXPECT_EQ(PoolText(DrawPool(corpus, judged, 40, 1), 40),
            "a pool of 40 of 100 documents (3 of them judged)");
}

}  // namespace
}  // namespace tandem::data
