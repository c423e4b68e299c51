#include "documents/pairing/pair_collector.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "documents/reading/markdown.h"
#include "support/error_matching.h"

namespace tandem::documents {
namespace {

Document Page(const std::string& id, std::string_view markdown) {
  Document document = ReadMarkdown(markdown, id);
  document.id = id;
  return document;
}

Document Titled(const std::string& id, const std::string& title, const std::string& words) {
  return Page(id, "# " + title + "\n\nThe first sentence of " + id + ".\n\n" + words +
                      " one two three four five six seven eight nine.\n");
}

const SourceCounts& CountsOf(const PairSet& set, std::string_view name) {
  for (const SourceCounts& counts : set.counts) {
    if (counts.source->name == name) return counts;
  }
  throw std::logic_error("no such source");
}

TEST(PairCollector, QueriesOfOneTextShareIt) {
  PairCollector collector({.sources = {"title", "first_sentence"}});
  collector.Add(Titled("a", "Wool gloves", "Text of a"));
  const PairSet set = collector.Finish();
  ASSERT_EQ(set.pairs.size(), 2U);
  EXPECT_EQ(set.documents.size(), 1U);
  EXPECT_EQ(set.documents.id(0), "a#1");
  const data::Dataset dataset = DatasetOf(set);
  EXPECT_EQ(dataset.queries.id(0), "title-1");
  EXPECT_EQ(dataset.queries.text(0), "Wool gloves");
  EXPECT_EQ(dataset.queries.id(1), "first_sentence-1");
  EXPECT_EQ(dataset.judged.size(), 2U);
}

TEST(PairCollector, AQueryOfSeveralTextsIsJudgedForEach) {
  PairCollector collector({.sources = {"title"}});
  collector.Add(Titled("a", "Wool gloves", "Alpha beta gamma delta"));
  collector.Add(Titled("b", "wool GLOVES", "Stone river mountain cloud"));
  const PairSet set = collector.Finish();
  EXPECT_EQ(set.queries.size(), 1U);
  EXPECT_EQ(set.pairs.size(), 2U);
  EXPECT_EQ(DatasetOf(set).judged.at(0).judgements.size(), 2U);
}

TEST(PairCollector, LeavesOutQueriesOfManyTextsAndCopies) {
  PairCollector collector({.sources = {"title"}});
  for (int i = 0; i < 12; ++i) {
    const std::string n = std::to_string(i);
    collector.Add(Titled(
        "m" + n, "See also",
        "w" + n + " x" + n + " y" + n + " z" + n + " u" + n + " v" + n + " s" + n + " t" + n));
  }
  collector.Add(Titled("c1", "First copy", "A text that stands twice in all of its many words"));
  collector.Add(Titled("c2", "Second copy", "A text that stands twice in all of its many words!"));
  collector.Add(Page("short", "# Short\n\nOne. Two.\n"));
  const PairSet set = collector.Finish();
  const SourceCounts& title = CountsOf(set, "title");
  EXPECT_EQ(title.found, 15U);
  EXPECT_EQ(title.common, 12U);
  EXPECT_EQ(title.near_copies, 1U);
  EXPECT_EQ(title.too_short, 1U);
  EXPECT_EQ(title.kept, 1U);
  EXPECT_EQ(title.found, title.common + title.near_copies + title.too_short + title.kept);
  EXPECT_EQ(CountsOf(set, "first_sentence").kept, 0U);
  EXPECT_FALSE(CountsOf(set, "first_sentence").chosen);
  EXPECT_GT(CountsOf(set, "first_sentence").found, 0U);
}

TEST(PairCollector, FollowsLinksToDocumentsOfTheFolder) {
  PairCollector collector({.sources = {"link"}});
  collector.Add(
      Page("a/index.md", "[about the hats](../b) [no such page](c.md) [a self link](#x)"));
  collector.Add(Titled("b.md", "Hats", "Alpha beta gamma delta"));
  const PairSet set = collector.Finish();
  ASSERT_EQ(set.pairs.size(), 1U);
  EXPECT_EQ(set.queries[0], "about the hats");
  EXPECT_EQ(set.documents.id(set.pairs[0].document), "b.md#1");
  EXPECT_EQ(CountsOf(set, "link").no_target, 1U);
}

TEST(PairCollector, DrawsByTheSeed) {
  std::string page = "# Page\n";
  for (int i = 0; i < 20; ++i) {
    const std::string n = std::to_string(i);
    page += "\n## How to do thing " + n + "\n\nw" + n + " x" + n + " y" + n + " z" + n + " a" + n +
            " b" + n + " c" + n + " d" + n + " e" + n + "\n";
  }
  const auto queries = [&](uint64_t seed) {
    PairCollector collector({.sources = {"heading"}, .per_document = 5, .seed = seed});
    collector.Add(Page("a", page));
    const PairSet set = collector.Finish();
    EXPECT_EQ(CountsOf(set, "heading").over_limit, 15U);
    return set.queries;
  };
  EXPECT_EQ(queries(1).size(), 5U);
  EXPECT_EQ(queries(1), queries(1));
  EXPECT_NE(queries(1), queries(2));
}

TEST(PairCollector, NamesSourcesThatAreNotThere) {
  ExpectError([] { PairCollector({.sources = {"titel"}}); }, ExitCode::kUsage,
              {"--sources: titel is unknown", "did you mean title?"});
}

TEST(KeepPairs, CountsWhatGoes) {
  PairCollector collector({.sources = {"title", "first_sentence"}});
  collector.Add(Titled("a", "Wool gloves", "Text of a"));
  PairSet set = collector.Finish();
  KeepPairs({false, true}, &set);
  EXPECT_EQ(set.pairs.size(), 1U);
  EXPECT_EQ(CountsOf(set, "title").kept, 0U);
  EXPECT_EQ(CountsOf(set, "title").not_found, 1U);
  EXPECT_EQ(DatasetOf(set).queries.id(0), "first_sentence-1");
}

}  // namespace
}  // namespace tandem::documents
