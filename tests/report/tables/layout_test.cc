#include "report/tables/layout.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "support/hard_text.h"
#include "text/width/display_width.h"

namespace tandem::report {
namespace {

ShownColumn Words(std::string heading, std::vector<std::string> texts) {
  ShownColumn column{.heading = std::move(heading)};
  for (std::string& text : texts) column.cells.push_back({std::move(text)});
  return column;
}

ShownColumn Numbers(std::string heading, std::vector<std::string> texts) {
  ShownColumn column = Words(std::move(heading), std::move(texts));
  for (ShownCell& cell : column.cells) cell.is_number = cell.text != "-";
  return column;
}

TEST(LayOut, NumbersStandByTheirPoints) {
  EXPECT_EQ(LayOut({Words("system", {"bm25", "ours", "none"}),
                    Numbers("value", {"0.5", "12.25", "-"}), Numbers("count", {"7", "300", "12"})},
                   {}),
            "system  value  count\n"
            "bm25     0.5       7\n"
            "ours    12.25    300\n"
            "none        -     12\n");
  EXPECT_EQ(LayOut({Numbers("n", {"3", "0.25", "-1.5"})}, {.heading = false}), " 3\n 0.25\n-1.5\n");
  EXPECT_EQ(LayOut({Numbers("p", {"< 0.0001", "0.0100"})}, {.heading = false}),
            "< 0.0001\n  0.0100\n");
  EXPECT_EQ(LayOut({Numbers("n", {"1e-07", "1.5e-08"})}, {.heading = false}), "  1e-07\n1.5e-08\n");
}

TEST(LayOut, IndentGapAndLeastWidths) {
  ShownColumn name = Words("name", {"a"});
  name.least_width = 6;
  EXPECT_EQ(LayOut({name, Numbers("n", {"1"})}, {.indent = 2, .gap = 1}),
            "  name   n\n  a      1\n");
}

TEST(LayOut, WideCharactersTakeTwoColumns) {
  EXPECT_EQ(LayOut({Words("query", {"日本語", "e\u0301t"}), Numbers("n", {"1", "2"})}, {}),
            "query   n\n日本語  1\ne\u0301t      2\n");
}

TEST(LayOut, BoldIsAroundTheValueOnly) {
  ShownColumn values = Numbers("value", {"0.5", "0.75"});
  values.cells[1].is_best = true;
  const std::vector<ShownColumn> columns = {Words("s", {"a", "b"}), values};
  EXPECT_EQ(LayOut(columns, {.bold = true}), "s  value\na   0.5\nb   \033[1m0.75\033[0m\n");
  EXPECT_EQ(LayOut(columns, {}), "s  value\na   0.5\nb   0.75\n");
}

TEST(LayOut, LongTextsAreCutOrWrapped) {
  std::vector<ShownColumn> columns = {
      Words("id", {"q1"}), Words("text", {"alpha beta gamma delta"}), Numbers("n", {"1"})};
  EXPECT_EQ(LayOut(columns, {.columns = 24}),
            "id  text               n\n"
            "q1  alpha beta gamma…  1\n");
  columns[1].when_long = LongText::kWrap;
  EXPECT_EQ(LayOut(columns, {.columns = 24}),
            "id  text               n\n"
            "q1  alpha beta gamma   1\n"
            "    delta\n");
}

TEST(LayOut, AWideTableOfFewRowsIsTurned) {
  EXPECT_EQ(LayOut({Words("name", {"one", "two"}), Numbers("first number", {"1", "2.5"}),
                    Numbers("second number", {"3", "4"})},
                   {.columns = 30}),
            "name           one  two\n"
            "first number   1    2.5\n"
            "second number  3    4\n");
}

TEST(LayOut, AWideTableIsFoldedIntoBlocksThatBeginWithTheFirstColumn) {
  EXPECT_EQ(
      LayOut({Words("name", {"one", "two", "three"}), Numbers("first number", {"1", "2", "3"}),
              Numbers("second number", {"4", "5", "6"})},
             {.columns = 30}),
      "name   first number\n"
      "one               1\n"
      "two               2\n"
      "three             3\n"
      "\n"
      "name   second number\n"
      "one                4\n"
      "two                5\n"
      "three              6\n");
}

TEST(LayOut, TextsThatAreKeptAreFoldedBeforeTheyAreWrapped) {
  ShownColumn id = Words("id", {"a-long-id-of-a-query", "b", "c", "d"});
  id.when_long = LongText::kKeep;
  const std::vector<ShownColumn> columns = {id, Numbers("one", {"1", "2", "3", "4"}),
                                            Numbers("two", {"5", "6", "7", "8"})};
  EXPECT_EQ(LayOut(columns, {.columns = 29}),
            "id                    one\n"
            "a-long-id-of-a-query    1\n"
            "b                       2\n"
            "c                       3\n"
            "d                       4\n"
            "\n"
            "id                    two\n"
            "a-long-id-of-a-query    5\n"
            "b                       6\n"
            "c                       7\n"
            "d                       8\n");
  EXPECT_TRUE(LayOut(columns, {.columns = 14})
                  .starts_with("id         one\n"
                               "a-long-id    1\n"
                               "-of-a-que\n"
                               "ry\n"));
}

RC_GTEST_PROP(LayOut, NoLineIsWiderThanTheTerminal, ()) {
  const size_t rows = *rc::gen::inRange<size_t>(0, 6);
  const size_t count = *rc::gen::inRange<size_t>(1, 9);
  std::vector<ShownColumn> columns;
  for (size_t c = 0; c < count; ++c) {
    const bool numbers = c > 0 && *rc::gen::arbitrary<bool>();
    ShownColumn column{.heading = text::Printable(*HardText()),
                       .when_long = *rc::gen::elementOf(std::vector<LongText>{
                           LongText::kCut, LongText::kWrap, LongText::kKeep})};
    for (size_t r = 0; r < rows; ++r) {
      const std::string text =
          numbers ? std::to_string(*rc::gen::inRange(-99999, 99999)) : text::Printable(*HardText());
      column.cells.push_back({text, numbers});
    }
    columns.push_back(std::move(column));
  }
  const LayoutOptions options{.columns = *rc::gen::inRange<size_t>(30, 90),
                              .heading = *rc::gen::arbitrary<bool>(),
                              .indent = *rc::gen::inRange<size_t>(0, 4)};
  std::istringstream lines(LayOut(columns, options));
  for (std::string line; std::getline(lines, line);) {
    RC_ASSERT(text::DisplayWidth(line) <= options.columns);
  }
}

}  // namespace
}  // namespace tandem::report
