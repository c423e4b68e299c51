#include "documents/html/html_document.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "documents/described.h"
#include "support/error_matching.h"

namespace tandem::documents {
namespace {

TEST(ReadHtml, TellsBlocksApartAndLeavesOutWhatIsNotText) {
  const Document document = ReadHtml(
      "<html><head><title>Site - Gloves</title><style>p{}</style></head><body><nav>Home</nav>"
      "<h1>Gloves</h1><p>Warm\n  and <b>soft</b>&nbsp;ones.<p>Second &lt;3.<script>x()</script>"
      "<h2>Care</h2><ul><li>Wash<ul><li>cold</li></ul></li><li>Dry</ul>"
      "<pre>a\n  b</pre><dl><dt>Size</dt><dd>From S to XL.</dd></dl>"
      "<p hidden>secret</p>line<br>next<footer>(c)</footer></body>",
      "page.html");
  EXPECT_EQ(document.title, "Gloves");
  EXPECT_EQ(Described(document),
            "paragraph|Warm and soft ones.\n"
            "paragraph|Second <3.\n"
            "heading2|Care\n"
            "item1|Wash\n"
            "item2|cold\n"
            "item1|Dry\n"
            "code|a\n  b\n"
            "term|Size\n"
            "definition|From S to XL.\n"
            "paragraph|line\nnext\n");
  EXPECT_EQ(document.text.substr(0, 36), "Warm and soft ones.\n\nSecond <3.\n\nCar");
  EXPECT_NE(document.text.find("Wash\ncold\nDry\n\na"), std::string::npos) << document.text;
}

TEST(ReadHtml, ReadsRowsCellByCell) {
  const Document document = ReadHtml(
      "<table><caption>All sizes</caption><tr><th>Q</th><th>A</th></tr>"
      "<tr><td>One <p>two</p></td><td></td><td><img alt='a red glove'></td></tr></table>",
      "page.html");
  EXPECT_EQ(Described(document),
            "caption|All sizes\n"
            "row*|Q | A[Q][A]\n"
            "row|One two | a red glove[One two][][a red glove]\n");
  ASSERT_EQ(document.captions.size(), 2U);
  EXPECT_EQ(document.Of(document.captions[0]), "All sizes");
  EXPECT_EQ(document.Of(document.captions[1]), "a red glove");
}

TEST(ReadHtml, TakesTablesWithHeadingsForLayout) {
  const Document document = ReadHtml(
      "<table><tr><td><h2>Left</h2>text</td><td><table><tr><td>a</td><td>b</td></tr></table></td>"
      "</tr></table>",
      "page.html");
  EXPECT_EQ(Described(document), "heading2|Left\nparagraph|text\nrow|a | b[a][b]\n");
}

TEST(ReadHtml, KeepsLinksWithTheirWords) {
  const Document document =
      ReadHtml("<p>See <a href='a.html#x'> the  <i>guide</i> </a>, <a name=y>not this</a>.", "p");
  ASSERT_EQ(document.links.size(), 1U);
  EXPECT_EQ(document.Of(document.links[0].span), "the guide");
  EXPECT_EQ(document.links[0].target, "a.html#x");
}

// The end of a block takes its white space away, which a link may begin after.
TEST(ReadHtml, LinksThatBeginAfterWhiteSpaceOfABlockThatEnds) {
  EXPECT_EQ(ReadHtml("<pre>code\n\n<a href='x'><div></div></a></pre>", "p").text, "code");
  const Document document =
      ReadHtml("<pre>code\n\n\n\n<a href='x'><div>words</div></a></pre>", "p");
  ASSERT_EQ(document.links.size(), 1U);
  EXPECT_EQ(document.Of(document.links[0].span), "words");
}

TEST(ReadHtml, TakesTheTitleElementWhereHeadingsAreMany) {
  const Document many = ReadHtml("<title> A \n page </title><h1>One</h1><h1>Two</h1>", "p");
  EXPECT_EQ(many.title, "A page");
  EXPECT_EQ(Described(many), "heading1|One\nheading1|Two\n");
  const Document given = ReadHtml("<h1>One</h1>text", "p", {.title = "Another"});
  EXPECT_EQ(given.title, "Another");
  EXPECT_EQ(Described(given), "heading1|One\nparagraph|text\n");
}

TEST(ReadHtml, FoldedPartsHaveHeadings) {
  const Document document = ReadHtml(
      "<h2>Help</h2><details><summary>May I wash <em>them</em>?</summary>Yes.</details>", "p");
  EXPECT_EQ(Described(document), "heading2|Help\nheading3|May I wash them?\nparagraph|Yes.\n");
}

TEST(ReadHtml, EmptyPagesHaveNothing) {
  const Document document = ReadHtml("", "p");
  EXPECT_EQ(document.text + document.title, "");
  EXPECT_TRUE(document.blocks.empty());
}

// 50 MB that would be a tree of ten million levels: a parser that calls itself for each would end
// with the stack, and one that looks through open elements would take days.
TEST(ReadHtml, RefusesElementsThatLieTooDeep) {
  std::string html = "<p>\n";
  for (size_t i = 0; i < 10'000'000; ++i) html += "<div>";
  ExpectError([&] { ReadHtml(html, "deep.html"); }, ExitCode::kData,
              {"deep.html:2: elements lie more than 512 deep in each other"});
}

// The counted levels are some times fewer than those of the tree, which must not matter.
TEST(ReadHtml, ReadsWhatIsJustNotTooDeep) {
  std::string html;
  for (int i = 0; i < 500; ++i) html += "<ul><li><p>";
  html += "word";
  EXPECT_EQ(ReadHtml(html, "p").text, "word");
}

}  // namespace
}  // namespace tandem::documents
