#include "documents/reading/markdown.h"

#include <gtest/gtest.h>

#include <string>

#include "documents/described.h"
#include "support/error_matching.h"

namespace tandem::documents {
namespace {

TEST(ReadMarkdown, ReadsGitHubsMarkdown) {
  const Document document = ReadMarkdown(
      "# Gloves\n\nColour: red\nSize: *XL*\n\n## Care\n\n- wash ~~hot~~ cold\n\n"
      "| Q | A |\n|---|---|\n| Dry? | Yes. |\n\n![a red glove](g.png)\n\n[the guide](guide.md)\n\n"
      "```\nx = 1\n```\n\n<details><summary>More</summary>\n\nHidden text.\n\n</details>\n",
      "p.md");
  EXPECT_EQ(document.title, "Gloves");
  EXPECT_EQ(Described(document),
            "paragraph|Colour: red\nSize: XL\n"
            "heading2|Care\n"
            "item1|wash hot cold\n"
            "row*|Q | A[Q][A]\n"
            "row|Dry? | Yes.[Dry?][Yes.]\n"
            "paragraph|a red glove\n"
            "paragraph|the guide\n"
            "code|x = 1\n"
            "heading3|More\n"
            "paragraph|Hidden text.\n");
  ASSERT_EQ(document.links.size(), 1U);
  EXPECT_EQ(document.links[0].target, "guide.md");
  ASSERT_EQ(document.captions.size(), 1U);
}

TEST(ReadMarkdown, TakesTheTitleOfTheFrontMatterAndNothingElse) {
  const Document document =
      ReadMarkdown("---\ntags: [a]\ntitle: \"My page\"\n---\n# Heading\n\ntext\n", "p.md");
  EXPECT_TRUE(document.front_matter);
  EXPECT_EQ(document.title, "My page");
  EXPECT_EQ(Described(document), "heading1|Heading\nparagraph|text\n");
  const Document same = ReadMarkdown("---\ntitle: Same\n---\n# Same\n\ntext\n", "p.md");
  EXPECT_EQ(Described(same), "paragraph|text\n");
}

TEST(ReadMarkdown, ARuleIsNoFrontMatter) {
  EXPECT_EQ(FindFrontMatter("---\n\ntext\n").bytes, 0U);
  EXPECT_EQ(FindFrontMatter("----\na\n---\n").bytes, 0U);
  EXPECT_EQ(FindFrontMatter("").bytes, 0U);
  EXPECT_EQ(FindFrontMatter("---").bytes, 0U);
  EXPECT_EQ(FindFrontMatter("---\r\ntitle: a\r\n---\r\nb").bytes, 20U);
  EXPECT_EQ(FindFrontMatter("---\r\ntitle: a\r\n---\r\nb").title, "a");
  EXPECT_EQ(FindFrontMatter("---\ntitle: >\n  long\n---\n").title, "");
}

// Quotes in quotes become elements in elements; their lines are not those of the file.
TEST(ReadMarkdown, RefusesWhatLiesTooDeep) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "> ";
  ExpectError([&] { ReadMarkdown(text + "x", "deep.md"); }, ExitCode::kData,
              {"deep.md: elements lie more than 512 deep in each other"});
}

TEST(ReadMarkdown, HeadingsAloneAreADocument) {
  const Document document = ReadMarkdown("# One\n\n## Two\n\n## Three\n", "p.md");
  EXPECT_EQ(document.title, "One");
  EXPECT_EQ(document.text, "Two\n\nThree");
}

}  // namespace
}  // namespace tandem::documents
