#include "data/formats/trec_run.h"

#include <fmt/format.h>

#include <set>

#include "data/data_test.h"

namespace tandem::data {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Run RunOf(std::string_view bytes, Warnings& warnings) {
  LineReader reader("f.run", bytes, warnings);
  return ReadTrecRun(reader);
}

std::string RunErrorOf(std::string_view bytes) {
  Warnings warnings;
  return DataErrorOf([&] { RunOf(bytes, warnings); });
}

TEST(ReadTrecRun, QueriesMayBeMixed) {
  Warnings warnings;
  const data::Run run =
      RunOf("q1 Q0 d1 1 1.5 t\nq2 Q0 d1 1 +2e-3 t\n  q1\tQ0\td2  2 -1e-400 t\n", warnings);
  ASSERT_EQ(run.queries().size(), 2U);
  const QueryResults* query = run.Find("q1");
  ASSERT_NE(query, nullptr);
  ASSERT_EQ(query->results.size(), 2U);
  EXPECT_EQ(query->results[0].document, "d1");
  EXPECT_EQ(query->results[0].score, 1.5);
  EXPECT_EQ(query->results[1].document, "d2");
  EXPECT_EQ(query->results[1].score, 0);
  EXPECT_EQ(run.Find("q2")->results[0].score, 0.002);
  EXPECT_EQ(run.Find("q3"), nullptr);
  EXPECT_THAT(warnings.Messages(), IsEmpty());
}

TEST(ReadTrecRun, FieldsBehindTheTagAreCounted) {
  Warnings warnings;
  EXPECT_EQ(RunOf("q Q0 d 1 1 my tag\n", warnings).queries().size(), 1U);
  EXPECT_THAT(
      warnings.Messages(),
      ElementsAre("f.run: lines with fields after the tag, ignored: 1 (first at line 1, id q)"));
}

TEST(ReadTrecRun, BrokenLinesAreNamed) {
  EXPECT_EQ(RunErrorOf("q Q0 d 1 1 t\nq Q0 d 1 1\n"),
            "f.run:2: has 5 fields; expected 6 (query Q0 document rank score tag)");
  for (const char* score : {"nan", "inf", "-inf", "1e999", "x", "1,5"}) {
    EXPECT_EQ(RunErrorOf(std::string("q Q0 d 1 ") + score + " t"),
              std::string("f.run:1: score \"") + score + "\" is not a finite number (id q)");
  }
  EXPECT_EQ(RunErrorOf("q Q0 d 1 2 t\nr Q0 d 1 2 t\nq Q0 e 2 1 t\nq Q0 d 3 0 t\n"),
            "f.run:4: document d was given in line 1 already (id q)");
  EXPECT_EQ(RunErrorOf(""), "f.run: holds no results");
}

// Results that do not stand in lines one after the other are compared, too.
TEST(ReadTrecRun, CopiesAreFoundWhereverTheyStand) {
  std::string text;
  for (int line = 1; line <= 3000; ++line) {
    text += line % 100 == 0 ? "\n" : fmt::format("q{} Q0 d{} 1 1 t\n", line / 2 % 7, line);
  }
  Warnings warnings;
  EXPECT_EQ(RunOf(text, warnings).queries().size(), 7U);
  for (const int line : {1, 2, 101, 1499, 2999}) {
    EXPECT_EQ(RunErrorOf(text + fmt::format("q{} Q0 d{} 1 1 t\n", line / 2 % 7, line)),
              fmt::format("f.run:3001: document d{} was given in line {} already (id q{})", line,
                          line, line / 2 % 7));
  }
}

// Ids of every length up to 20, of which many begin or end alike, are told apart.
TEST(ReadTrecRun, IdsOfAnyLengthAreToldApart) {
  std::set<std::string> ids;
  for (size_t length = 1; length <= 20; ++length) {
    for (size_t place = 0; place < length; ++place) {
      for (const char letter : {'a', 'b', '\xE9'}) {
        std::string id(length, 'a');
        id[place] = letter;
        ids.insert(id);
      }
    }
  }
  std::string text;
  for (const std::string& id : ids) text += fmt::format("q Q0 {} 1 1 t\n", id);
  Warnings warnings;
  EXPECT_EQ(RunOf(text, warnings).queries()[0].results.size(), ids.size());
  for (const std::string& id : ids) {
    EXPECT_THAT(RunErrorOf(text + fmt::format("q Q0 {} 1 1 t\n", id)),
                testing::HasSubstr(fmt::format("document {} was given in line ", id)));
  }
}

TEST(WriteTrecRun, ReadsBackToTheSameScores) {
  const TemporaryFolder folder;
  data::Run run;
  const std::vector<double> scores = {0.1, static_cast<double>(0.1F), -3, 1e-300, 123456789.123};
  for (const char* query : {"q1", "q2"}) {
    QueryResults& results = run.AddQuery(query);
    for (size_t i = 0; i < scores.size(); ++i) {
      results.results.push_back({run.Keep(fmt::format("d{}", i)), scores[i]});
    }
  }
  WriteTrecRun(folder.path() / "run", run, "tandem");
  EXPECT_TRUE(ReadFile(folder.path() / "run")
                  .starts_with("q1 Q0 d0 1 0.1 tandem\nq1 Q0 d1 2 0.1 tandem\nq1 Q0 d2 3 -3 "
                               "tandem\nq1 Q0 d3 4 1e-300 tandem\n"));
  const data::Run read = ReadTrecRun(folder.path() / "run");
  ASSERT_EQ(read.queries().size(), 2U);
  for (size_t i = 0; i < scores.size(); ++i) {
    const double score = read.queries()[1].results[i].score;
    // A float is written in its own shortest digits.
    EXPECT_TRUE(score == scores[i] || static_cast<float>(score) == static_cast<float>(scores[i]));
  }
  EXPECT_EQ(read.queries()[0].results[4].score, 123456789.123);
}

TEST(WriteTrecRun, IdsAndTagsWithBlanksAreRefused) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "run";
  data::Run run;
  run.AddQuery("q").results.push_back({"a b", 1});
  EXPECT_EQ(
      DataErrorOf([&] { WriteTrecRun(path, run, "t"); }),
      path.native() +
          ": a TREC run separates its fields by blanks: an id must not be empty or have blanks "
          "(id a b)");
  EXPECT_THROW(WriteTrecRun(path, data::Run(), "my tag"), UsageError);
  EXPECT_THROW(WriteTrecRun(path, data::Run(), ""), UsageError);
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace tandem::data
