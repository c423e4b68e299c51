#include "commands/search/hits_output.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tandem::app {
namespace {

std::string Output(const HitsStyle& style, const std::vector<HitsOfQuery>& queries) {
  std::string out;
  HitsOutput output(style, [&out](std::string_view text) { out += text; });
  for (const HitsOfQuery& query : queries) output.Add(query);
  output.Finish();
  return out;
}

const std::vector<ShownHit>& Hits() {
  static const std::vector<ShownHit> hits = {
      {.score = 0.5F, .id = "d1", .text = "alpha.\tbeta", .highlight = index::Passage{7, 11}},
      {.score = 0.25, .id = "d2", .text = "gamma", .highlight = index::Passage{0, 5}}};
  return hits;
}

TEST(HitsOutput, JsonIsAListOrObjectsOnLines) {
  const std::vector<HitsOfQuery> queries = {
      {.id = "q1", .query = "x \xff", .hits = std::span(Hits()).subspan(1)},
      {.id = "q2", .query = "y", .hits = {}}};
  EXPECT_EQ(Output({.format = "json", .has_ids = true, .as_lines = true}, queries),
            "{\"id\":\"q1\",\"query\":\"x \uFFFD\",\"hits\":[{\"document\":\"d2\",\"score\":0.25,"
            "\"text\":\"gamma\",\"highlight\":{\"begin\":0,\"end\":5,\"text\":\"gamma\"}}]}\n"
            "{\"id\":\"q2\",\"query\":\"y\",\"hits\":[]}\n");
  EXPECT_EQ(Output({.format = "json"}, {queries[1], queries[1]}),
            "[\n  {\n    \"query\": \"y\",\n    \"hits\": []\n  },\n"
            "  {\n    \"query\": \"y\",\n    \"hits\": []\n  }\n]\n");
  EXPECT_EQ(Output({.format = "json"}, {}), "[]\n");
  EXPECT_EQ(Output({.format = "json", .as_lines = true}, {}), "");
}

TEST(HitsOutput, TsvHasPassagesOnOneLine) {
  const HitsOfQuery query{.id = "q7", .query = "x\ny", .hits = Hits()};
  EXPECT_EQ(Output({.format = "tsv"}, {query}), "x y\t1\td1\t0.5\tbeta\nx y\t2\td2\t0.25\tgamma\n");
  EXPECT_EQ(Output({.format = "tsv", .has_ids = true}, {query}),
            "q7\t1\td1\t0.5\tbeta\nq7\t2\td2\t0.25\tgamma\n");
}

TEST(HitsOutput, TrecHasIdsAndRefusesThoseWithBlanks) {
  EXPECT_EQ(Output({.format = "trec"}, {{.id = "q7", .query = "x", .hits = Hits()}}),
            "q7 Q0 d1 1 0.5 tandem\nq7 Q0 d2 2 0.25 tandem\n");
  const std::vector<ShownHit> blank = {{.score = 1, .id = "d 1"}};
  EXPECT_THROW(Output({.format = "trec"}, {{.id = "q7", .query = "x", .hits = blank}}), DataError);
}

TEST(HitsOutput, TextSaysWhatIsMissing) {
  const HitsOfQuery none{.query = "x\033[31m", .hits = {}};
  EXPECT_EQ(Output({}, {none, none}),
            "x?[31m\nno document is found\n\nx?[31m\nno document is found\n");
  EXPECT_EQ(Output({.asked = "year>=2020"}, {none}), "x?[31m\nno document has year>=2020\n");
}

}  // namespace
}  // namespace tandem::app
