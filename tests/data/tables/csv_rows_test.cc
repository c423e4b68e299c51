// Rows as Python's csv module reads them; tools/checks/check_tables.py compares with the module
// itself over generated files.
#include "data/tables/csv_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "data/data_test.h"
#include "data/input/byte_source.h"

namespace tandem::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Gives bytes one by one, so that every place is the end of a piece.
class SlowSource final : public ByteSource {
 public:
  explicit SlowSource(std::string_view bytes) : bytes_(bytes) {}
  size_t Read(char* out, size_t) override {
    if (bytes_.empty()) return 0;
    *out = bytes_.front();
    bytes_.remove_prefix(1);
    return 1;
  }

 private:
  std::string_view bytes_;
};

std::string RowsFrom(std::unique_ptr<ByteSource> source, const CsvDialect& dialect) {
  CsvRows rows(std::move(source), "f.csv", dialect);
  CsvRow row;
  std::string all;
  while (rows.Next(&row)) {
    all += fmt::format("{}:", row.line);
    for (const std::string_view field : row.fields) {
      if (row.problem.empty()) all += fmt::format("[{}]", field);
    }
    if (!row.problem.empty()) all += fmt::format("!{}", row.problem_kind);
    all += ' ';
  }
  return all;
}

// "LINE:[FIELD][FIELD] ", or "LINE:!KIND ", for each row; the same whatever the pieces are.
std::string RowsOf(std::string_view bytes, const CsvDialect& dialect = {}) {
  const std::string whole = RowsFrom(BytesInMemory(bytes), dialect);
  EXPECT_EQ(RowsFrom(std::make_unique<SlowSource>(bytes), dialect), whole) << bytes;
  return whole;
}

TEST(CsvRows, ReadsFieldsAndRows) {
  EXPECT_EQ(RowsOf("a,b\nc,d\n"), "1:[a][b] 2:[c][d] ");
  EXPECT_EQ(RowsOf("a,b\r\nc,d"), "1:[a][b] 2:[c][d] ");
  EXPECT_EQ(RowsOf("a,b\rc,d\r"), "1:[a][b] 2:[c][d] ");
  EXPECT_EQ(RowsOf(",\n,x,\n"), "1:[][] 2:[][x][] ");
  EXPECT_EQ(RowsOf(""), "");
}

TEST(CsvRows, KeepsBlanksAndPassesOverEmptyLines) {
  EXPECT_EQ(RowsOf(" a , b\t\n\n\r\n  \nc\n"), "1:[ a ][ b\t] 4:[  ] 5:[c] ");
}

TEST(CsvRows, ReadsQuotes) {
  EXPECT_EQ(RowsOf("\"a,\"\"b\"\"\",\"\"\n"), "1:[a,\"b\"][] ");
  EXPECT_EQ(RowsOf("\"a\r\nb\nc\",d\ne,f\n"), "1:[a\r\nb\nc][d] 4:[e][f] ");
  // A field that does not begin with a quote has none that mean anything.
  EXPECT_EQ(RowsOf("5\" pipe,a\"b\"\n \"x\",y\n"), "1:[5\" pipe][a\"b\"] 2:[ \"x\"][y] ");
}

// Python reads the first as [ab][c], which nobody has written; its rows end where these end.
TEST(CsvRows, RefusesWhatStandsAfterAClosingQuoteAndFindsTheNextRow) {
  EXPECT_EQ(RowsOf("\"a\"b,c\nd,e\n"), "1:!rows with something after a closing quote 2:[d][e] ");
  EXPECT_EQ(RowsOf("\"a\"b,\"c\nd\",e\nf,g\n"),
            "1:!rows with something after a closing quote 3:[f][g] ");
  EXPECT_EQ(RowsOf("\"a\" ,b\nc,d\n"), "1:!rows with something after a closing quote 2:[c][d] ");
}

TEST(CsvRows, ReadsQuotesAsCharactersWhereAsked) {
  const CsvDialect plain{.delimiter = '\t', .quotes = false};
  EXPECT_EQ(RowsOf("\"a\tb\"\n\"\t\"\"\n", plain), "1:[\"a][b\"] 2:[\"][\"\"] ");
  // The byte that libcsv is told as the quote, and the one that stands for it.
  EXPECT_EQ(RowsOf("\xFF"
                   "a\tb\nc\td\n\xFE\te\n",
                   plain),
            "1:!rows that are not UTF-8 2:[c][d] 3:!rows that are not UTF-8 ");
}

TEST(CsvRows, NamesBytesThatAreNoText) {
  EXPECT_EQ(RowsOf("caf\xE9,b\nc,d\n"), "1:!rows that are not UTF-8 2:[c][d] ");
  EXPECT_EQ(RowsOf(std::string_view("a\0b,c\nd,e\n", 10)), "1:!rows with a NUL byte 2:[d][e] ");
  CsvRows rows(BytesInMemory("x,y\n1,caf\xE9\n"), "f.csv", {});
  CsvRow row;
  rows.Next(&row);
  rows.Next(&row);
  EXPECT_THAT(row.problem, HasSubstr("the byte 0xE9 at column 6"));
  EXPECT_THAT(row.problem, HasSubstr("iconv -f WINDOWS-1252 -t UTF-8"));
  EXPECT_EQ(row.raw, "1,caf\xE9");
}

TEST(CsvRows, NamesTheLineOnWhichAQuoteBeginsThatNeverCloses) {
  const auto error = [](std::string_view bytes) { return DataErrorOf([&] { RowsOf(bytes); }); };
  EXPECT_THAT(error("a,b\nc,\"d\ne,f\ng,h\n"),
              HasSubstr("f.csv:2: a quote that begins on this line never closes"));
  // The row begins on line 1, and its first quotes close.
  const std::string later = error("\"a\nb\",\"c\nd\n");
  EXPECT_THAT(later, HasSubstr("f.csv:2: a quote that begins on this line never closes"));
  EXPECT_THAT(later, HasSubstr("the row begins on line 1"));
  EXPECT_THAT(error("a,\"b"), HasSubstr("f.csv:1: a quote"));
}

TEST(CsvRows, BoundsTheMemoryOfAnOpenQuote) {
  std::string bytes = "a,b\nc,\"d\n";
  while (bytes.size() <= CsvRows::kMaxRowBytes) bytes += "a line of a file that goes on and on\n";
  const std::string error = DataErrorOf([&] { RowsFrom(BytesInMemory(bytes), {}); });
  EXPECT_THAT(error, HasSubstr("f.csv:2: the row is longer than 16 MiB: a quote that begins on "
                               "line 2 does not close"));
}

TEST(CsvRows, CountsLinesAcrossRowsOfSeveralLines) {
  CsvRows rows(BytesInMemory("h\n\"a\nb\"\n\n\"c\r\nd\"\r\ne\n"), "f.csv", {});
  CsvRow row;
  std::vector<int64_t> lines;
  while (rows.Next(&row)) lines.push_back(row.line);
  EXPECT_THAT(lines, ElementsAre(1, 2, 5, 7));
  EXPECT_EQ(rows.blank_lines(), 1U);
}

}  // namespace
}  // namespace tandem::data
