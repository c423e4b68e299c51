#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "documents/html/html_document.h"
#include "documents/masking.h"
#include "documents/pair_source.h"
#include "documents/passages/words.h"
#include "documents/reading/markdown.h"

namespace tandem::documents {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs Find(std::string_view name, const Document& document) {
  Pairs pairs;
  const PairSource* const source = config::FindEntry(PairSources(), name);
  EXPECT_NE(source, nullptr) << name;
  source->find(document, [&](const FoundPair& pair) {
    pairs.emplace_back(pair.query, pair.linked_file.empty() ? pair.text : pair.linked_file);
  });
  return pairs;
}

Pairs InMarkdown(std::string_view name, std::string_view markdown, const std::string& id = "a.md") {
  Document document = ReadMarkdown(markdown, "a.md");
  document.id = id;
  return Find(name, document);
}

constexpr std::string_view kPage = R"(# Wool gloves

Gloves of wool are warm. They last for years. Wash them by hand.

## Care

Wash in cold water.

### How do I dry them?

On a towel.

## How to mend them

Sew the hole. This is how to mend them well. Cut the thread.

| Question | Answer | Since |
|---|---|---|
| Do they itch? | Some do. | 2020 |

![gloves on a towel](t.png)

See [the hat page](../hats/my%20hat.md#top), [here](b.md), [the web](https://a.example/b.md).

Material: wool of merino sheep
Price: 30

Q: Are there liners?
A: Yes, of silk.
)";

TEST(PairSources, FindWhatTheirSummarySays) {
  EXPECT_THAT(InMarkdown("title", kPage),
              ElementsAre(testing::Pair(
                  "Wool gloves", testing::StartsWith("They last for years. Wash them by hand."))));
  EXPECT_THAT(InMarkdown("first_sentence", kPage),
              ElementsAre(testing::Pair("Gloves of wool are warm.",
                                        testing::StartsWith("They last for years."))));
  EXPECT_THAT(InMarkdown("heading", kPage),
              ElementsAre(testing::Pair("Wool gloves: Care",
                                        "Wash in cold water.\n\nHow do I dry "
                                        "them?\n\nOn a towel."),
                          testing::Pair("How to mend them",
                                        testing::StartsWith("Sew the hole. Cut the thread."))));
  EXPECT_THAT(InMarkdown("question", kPage),
              ElementsAre(testing::Pair("How do I dry them?", "On a towel."),
                          testing::Pair("Are there liners?", "Yes, of silk.")));
  EXPECT_THAT(InMarkdown("faq_table", kPage),
              ElementsAre(testing::Pair("Do they itch?", "Some do. | 2020")));
  EXPECT_THAT(InMarkdown("faq_table",
                         "| Question | Note | Answer |\n|---|---|---|\n"
                         "| Do they itch? | | Some of them do. |\n"),
              ElementsAre(testing::Pair("Do they itch?", "Some of them do.")));
  const Pairs captions = InMarkdown("caption", kPage);
  ASSERT_EQ(captions.size(), 1U);
  EXPECT_EQ(captions[0].first, "gloves on a towel");
  EXPECT_THAT(captions[0].second, testing::StartsWith("Sew the hole."));
  EXPECT_EQ(captions[0].second.find("gloves on a towel"), std::string::npos);
  EXPECT_THAT(InMarkdown("link", kPage, "wool/a.md"),
              ElementsAre(testing::Pair("the hat page", "hats/my hat.md")));
  EXPECT_THAT(InMarkdown("key_value", kPage),
              testing::Contains(testing::Pair("Wool gloves: Material", "wool of merino sheep")));
}

TEST(PairSources, TermsLeadToTheirDefinitions) {
  const Document document =
      ReadHtml("<h1>Words</h1><dl><dt>Yarn<dt>Thread<dd>Long fibre.<dd>A tale.<dt>Lone</dl>", "p");
  EXPECT_THAT(Find("key_value", document),
              ElementsAre(testing::Pair("Words: Yarn", "Long fibre.\nA tale."),
                          testing::Pair("Words: Thread", "Long fibre.\nA tale.")));
}

TEST(PairSources, QuestionsInATextAreAnsweredByWhatFollows) {
  EXPECT_THAT(InMarkdown("question",
                         "Hello there. What is wool? It is hair. Soft hair. Is it "
                         "warm at all? It is.\n\nNext one."),
              ElementsAre(testing::Pair("What is wool?", "It is hair. Soft hair."),
                          testing::Pair("Is it warm at all?", "It is.")));
  EXPECT_THAT(
      InMarkdown("question", "**May I wash it?**\n\nYes.\n\nCold.\n\n**Is it red?**\n\nNo."),
      ElementsAre(testing::Pair("May I wash it?", "Yes.\n\nCold."),
                  testing::Pair("Is it red?", "No.")));
}

// For every source: a query is never whole in its text, and nothing is made of nothing.
class EverySource : public testing::TestWithParam<const PairSource*> {};

TEST_P(EverySource, FindsNothingInNothing) {
  const std::string name(GetParam()->name);
  for (const std::string_view page : {"", "# Title\n", "# One\n\n## Two\n", "word"}) {
    for (const auto& [query, text] : InMarkdown(name, page)) {
      EXPECT_LT(WordCount(text), 3U) << name << ": " << query << " -> " << text;
    }
  }
}

TEST_P(EverySource, MasksItsQueries) {
  for (const auto& [query, text] : InMarkdown(std::string(GetParam()->name), kPage)) {
    if (WordCount(query) < kGiveawayWords) continue;
    EXPECT_FALSE(HasRun(WordHashes(text), WordHashes(query))) << query << " -> " << text;
  }
}

INSTANTIATE_TEST_SUITE_P(All, EverySource,
                         testing::ValuesIn(PairSources().begin(), PairSources().end()),
                         [](const auto& parameter) { return std::string(parameter.param->name); });

}  // namespace
}  // namespace tandem::documents
