#include "documents/masking.h"

#include <gtest/gtest.h>

#include "documents/reading/markdown.h"
#include "documents/reading/plain_text.h"

namespace tandem::documents {
namespace {

Document Plain(const std::string& title, const std::string& text) {
  Document document{.title = title, .text = text};
  document.blocks = ParagraphsOf(document.text);
  return document;
}

TEST(Masking, LeavesOutSpansAndKeepsPartsApart) {
  const Document document = Plain("", "One. Two. Three.\n\nFour. Five.");
  EXPECT_EQ(MaskedText(document, {0, document.text.size()}, "", {{5, 9}}),
            "One. Three.\n\nFour. Five.");
  EXPECT_EQ(MaskedText(document, {0, document.text.size()}, "", {{10, 23}}), "One. Two. Five.");
  EXPECT_EQ(MaskedText(document, {5, 16}, "", {{0, 7}}), "o. Three.");
  EXPECT_EQ(MaskedText(document, {0, 4}, "", {{0, 4}}), "");
}

TEST(Masking, LeavesOutSentencesWithTheWholeQuery) {
  const Document document =
      Plain("", "Care of wool gloves matters. Wool gloves care. We care OF Wool, gloves!");
  EXPECT_EQ(MaskedText(document, {0, document.text.size()}, "care of wool gloves"),
            "Wool gloves care.");
  EXPECT_EQ(MaskedText(document, {0, document.text.size()}, "wool gloves"), document.text);
}

TEST(Masking, TheRestLacksFirstSentenceAndTitle) {
  EXPECT_EQ(RestOf(Plain("All about gloves", "Gloves warm. This is all about gloves. Dry them.")),
            "Dry them.");
  EXPECT_EQ(RestOf(Plain("Gloves", "Gloves warm.")), "");
  EXPECT_EQ(RestOf(Plain("Gloves", "")), "");
  EXPECT_EQ(RestOf(ReadMarkdown("# T\n\n## Only\n\n## Headings\n", "p")), "");
}

TEST(Masking, ShortHeadingsNeedTheTitle) {
  EXPECT_EQ(QueryFrom(Plain("Gloves", "x"), "Care"), "Gloves: Care");
  EXPECT_EQ(QueryFrom(Plain("Gloves", "x"), "How to wash"), "How to wash");
  EXPECT_EQ(QueryFrom(Plain("", "x"), "Care"), "Care");
}

}  // namespace
}  // namespace tandem::documents
