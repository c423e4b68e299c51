#include "documents/html/html_nesting.h"

#include <gtest/gtest.h>

#include <string>

namespace tandem::documents {
namespace {

std::string Times(int count, const std::string& text) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

TEST(HtmlNesting, FindsTheLineThatIsTooDeep) {
  EXPECT_EQ(LineNestedDeeperThan("<div><div>\n<div>", 2), 2);
  EXPECT_EQ(LineNestedDeeperThan("<div><div>\n<div>", 3), 0);
  EXPECT_EQ(LineNestedDeeperThan("", 0), 0);
  EXPECT_EQ(LineNestedDeeperThan("<", 0), 0);
  EXPECT_EQ(LineNestedDeeperThan("</", 0), 0);
}

TEST(HtmlNesting, ElementsThatEndDoNotCount) {
  EXPECT_EQ(LineNestedDeeperThan(Times(50, "<div><b>x</b></div>"), 2), 0);
  EXPECT_EQ(LineNestedDeeperThan(Times(50, "<div><span></div>"), 2), 0);  // div ends span
  EXPECT_EQ(LineNestedDeeperThan(Times(50, "<p>a<br><li>b<img src='a>b'>"), 0), 0);
  EXPECT_EQ(LineNestedDeeperThan("<svg>" + Times(50, "<path d='1'/>") + "</svg>", 1), 0);
}

TEST(HtmlNesting, MarkupInTextsIsNoElement) {
  EXPECT_EQ(LineNestedDeeperThan("<script>" + Times(9, "<div>") + "</SCRIPT><i>", 1), 0);
  EXPECT_EQ(LineNestedDeeperThan("<!-- " + Times(9, "<div>") + " -->", 0), 0);
  EXPECT_EQ(LineNestedDeeperThan("<a title='" + Times(9, "<div>") + "'>", 1), 0);
  EXPECT_EQ(LineNestedDeeperThan("1 < 2 <3 </ >", 0), 0);
}

// HTML ignores the slash of <div/>.
TEST(HtmlNesting, ASlashEndsElementsOfSvgAlone) {
  EXPECT_GT(LineNestedDeeperThan(Times(50, "<div/>"), 40), 0);
  EXPECT_GT(LineNestedDeeperThan("<svg></svg>" + Times(50, "<span/>"), 40), 0);
}

// End tags that a parser ignores must not hide levels.
TEST(HtmlNesting, EndTagsDoNotReachPastTables) {
  EXPECT_GT(LineNestedDeeperThan(Times(50, "<div><table></div>"), 60), 0);
  EXPECT_GT(LineNestedDeeperThan(Times(50, "<div></span>"), 40), 0);
  EXPECT_GT(LineNestedDeeperThan(Times(50, "<b><div></b>"), 40), 0);  // div stays open
}

TEST(HtmlNesting, ThreeUnclosedFormattingElementsOfOneTagCount) {
  EXPECT_EQ(LineNestedDeeperThan(Times(50, "<font color=red>"), 3), 0);
  std::string different;
  for (int i = 0; i < 50; ++i) different += "<font size=" + std::to_string(i) + ">";
  EXPECT_GT(LineNestedDeeperThan(different, 40), 0);
}

}  // namespace
}  // namespace tandem::documents
