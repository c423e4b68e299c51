#include <memory>
#include <string>

#include "data/warnings.h"
#include "import/sources/open_source.h"
#include "import_test.h"

namespace tandem::import_data {
namespace {

using testing::HasSubstr;

class Sources : public FilesTest {
 protected:
  // "LINE:NAME=TEXT,NAME=TEXT " or "LINE:!PROBLEM " for each row.
  std::string Rows(const std::string& path, const SourceOptions& options = {}) {
    const auto source = OpenSource(path, options, warnings_);
    Row row;
    std::string all;
    while (source->Next(&row)) {
      EXPECT_EQ(row.file, path);
      all += fmt::format("{}:", row.line);
      if (!row.problem.empty()) {
        all += fmt::format("!{} ", row.problem);
        continue;
      }
      for (const data::JsonField& cell : row.cells)
        all += fmt::format("{}={},", cell.key, cell.text);
      all += ' ';
    }
    return all;
  }
  std::string Description(const std::string& path) {
    return OpenSource(path, {}, warnings_)->Description();
  }
  std::string UsageErrorOf(const std::string& path) {
    return ErrorOf(ExitCode::kUsage, [&] { OpenSource(path, {}, warnings_); });
  }

  data::Warnings warnings_;
};

TEST_F(Sources, AreToldByNameAndFirstCharacter) {
  EXPECT_EQ(Description(Write("a.csv", "q;d\n1;2\n")), "CSV, separated by semicolons");
  EXPECT_EQ(Description(Write("a.tsv", "q\td\n1\t2\n")), "a table separated by tabs");
  EXPECT_EQ(Description(Write("a.jsonl", "{\"q\": 1}\n")), "JSON lines");
  EXPECT_EQ(Description(Write("a.json", "[{\"q\": 1}]")), "a JSON array");
  EXPECT_EQ(Description(Write("b.json", "{\"q\": 1}\n")), "JSON lines");
  EXPECT_EQ(Description(Write("a.txt", "  [{\"q\": 1}]")), "a JSON array");
  EXPECT_EQ(Description(Write("b.txt", "q,d\n1,2\n")), "CSV, separated by commas");
}

TEST_F(Sources, GiveTheRowsOfATable) {
  EXPECT_EQ(Rows(Write("a.csv", "q,d\n1,\"2\n3\"\n4,5\n")), "2:q=1,d=2\n3, 4:q=4,d=5, ");
  EXPECT_EQ(Rows(Write("a.csv", "\"1\",2\n"), {.quotes = false, .header_line = 0}),
            "1:1=\"1\",2=2, ");
}

TEST_F(Sources, GiveTheRowsOfJsonLines) {
  EXPECT_EQ(Rows(Write("a.jsonl", "{\"q\": \"1\", \"d\": \"2\"}\n\n[1]\n{\"q\": \"3\"}\n")),
            "1:q=1,d=2, 3:!begins a JSON array; expected one object per line, which `jq -c '.[]' " +
                Path("a.jsonl") + " > NEW` writes 4:q=3, ");
}

TEST_F(Sources, CutTheElementsOutOfAnArray) {
  EXPECT_EQ(Rows(Write("a.json", "[{\"q\": \"a]}\\\"\"},\n {\"q\":\n\"b\"} ,{}, 5 ]\n")),
            "1:q=a]}\", 2:q=b, 3: 3:!is a number, not a JSON object; expected one object per "
            "line ");
  EXPECT_EQ(Rows(Write("b.json", "[]")), "");
  // What is wrong inside an element is that row's problem alone.
  EXPECT_THAT(Rows(Write("c.json", "[{\"q\" 1}, {\"q\": \"b\"}]")), HasSubstr("1:q=b, "));
  // An element is longer than what is read at once.
  const std::string text(600'000, 'x');
  EXPECT_EQ(Rows(Write("d.json", "[{\"q\": \"" + text + "\"}, {\"q\": \"y\"}]")),
            "1:q=" + text + ", 1:q=y, ");
}

TEST_F(Sources, RefuseArraysThatAreNone) {
  const auto error = [&](std::string_view bytes) {
    return ErrorOf(ExitCode::kData, [&] { Rows(Write("a.json", bytes), {.format = "json"}); });
  };
  EXPECT_THAT(error("[{\"q\": 1},\n{\"q\": 2"), HasSubstr("a.json:2: is not valid JSON: the file "
                                                          "ends inside of the array"));
  EXPECT_THAT(error("[{}\n{}]"), HasSubstr("a.json:2: is not valid JSON: a comma or ]"));
  EXPECT_THAT(error("[{},]"), HasSubstr("a comma stands before ]"));
  EXPECT_THAT(error("[{}] x"), HasSubstr("something stands after the array"));
  EXPECT_THAT(error("{}"), HasSubstr("an array is expected"));
  EXPECT_THAT(error("["), HasSubstr("the file ends inside of the array"));
}

TEST_F(Sources, SayWhatToDoWithOtherFiles) {
  EXPECT_THAT(UsageErrorOf(Write("a.xlsx", "PK")),
              HasSubstr("soffice --headless --convert-to csv"));
  EXPECT_THAT(UsageErrorOf(Write("a.PDF", "%PDF")), HasSubstr("pdftotext"));
  EXPECT_THAT(UsageErrorOf(Path("")), HasSubstr("`tandem pairs " + Path("") +
                                                " -o data/pairs`, and a corpus to search and "
                                                "to measure on by `tandem pairs " +
                                                Path("") + " --corpus-only -o data/corpus`"));
  EXPECT_THAT(UsageErrorOf(Path("nope.csv")), HasSubstr("there is no such file"));
  EXPECT_THAT(UsageErrorOf("/dev/null"), HasSubstr("is no regular file"));
  const auto data_error = [&](const std::string& path) {
    return ErrorOf(ExitCode::kData, [&] { OpenSource(path, {}, warnings_); });
  };
  EXPECT_THAT(data_error(Write("b.csv", "PK\x03\x04 xl/workbook.xml")),
              HasSubstr("is an Excel workbook"));
  EXPECT_THAT(data_error(Write("c.jsonl", std::string_view("\xFF\xFE{\0", 4))),
              HasSubstr("is UTF-16"));
  EXPECT_THAT(data_error(Write("d.parquet", "PAR1")), HasSubstr("is a Parquet file"));
}

}  // namespace
}  // namespace tandem::import_data
