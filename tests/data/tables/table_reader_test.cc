#include "data/tables/table_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "data/data_test.h"
#include "data/read_dataset.h"
#include "data/tables/table_lines.h"
#include "support/temporary_folder.h"

namespace tandem::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Tables : public testing::Test {
 protected:
  std::string Write(const std::string& name, std::string_view bytes) const {
    const std::string path = (folder_.path() / name).native();
    WriteFileAtomically(path, bytes);
    return path;
  }
  std::string ErrorOf(const std::string& name, std::string_view bytes,
                      const TableOptions& options = {}) const {
    const std::string path = Write(name, bytes);
    return DataErrorOf([&] {
      TableReader table(path, options, warnings_);
      CsvRow row;
      while (table.Next(&row)) {
      }
    });
  }
  // "FIELD|FIELD ", or "LINE:!KIND ", for each row.
  std::string Rows(const std::string& path, const TableOptions& options = {}) const {
    TableReader table(path, options, warnings_);
    CsvRow row;
    std::string all;
    while (table.Next(&row)) {
      if (!row.problem.empty()) {
        all += fmt::format("{}:!{} ", row.line, row.problem_kind);
        continue;
      }
      all += fmt::format("{} ", fmt::join(row.fields, "|"));
    }
    return all;
  }

  TemporaryFolder folder_;
  mutable Warnings warnings_;
};

TEST_F(Tables, FindTheDelimiter) {
  const auto delimiter = [&](const std::string& name, std::string_view bytes) {
    return TableReader(Write(name, bytes), {}, warnings_).dialect().delimiter;
  };
  EXPECT_EQ(delimiter("a.csv", "q,d\n1,2\n"), ',');
  EXPECT_EQ(delimiter("b.csv", "q;d\n\"1,5\";2\n"), ';');
  EXPECT_EQ(delimiter("c.csv", "q;d\na, b, c;2\nx, y;3\n"), ';');
  EXPECT_EQ(delimiter("d.csv", "q\td\n1\t2\n"), '\t');
  EXPECT_EQ(delimiter("e.csv", "q|d\n1|2\n"), '|');
  EXPECT_EQ(delimiter("f.csv", "q\nno delimiter\n"), ',');
  EXPECT_EQ(delimiter("g.tsv", "q\td, and e, f\n1\t2\n"), '\t');
  EXPECT_EQ(delimiter("h.csv", "sep=;\nq,x;d\n1;2\n"), ';');
}

TEST_F(Tables, PassOverMarksAndBlankLinesAndSayHowMany) {
  const std::string path = Write("a.csv", "\xEF\xBB\xBFsep=;\r\nq;d\r\n\r\n1;2\r\n   \r\n3;4\r\n");
  EXPECT_EQ(Rows(path), "1|2 3|4 ");
  EXPECT_EQ(warnings_.count("byte order marks, ignored"), 1U);
  EXPECT_EQ(warnings_.count("lines that name the separator (sep=), passed over"), 1U);
  EXPECT_EQ(warnings_.count("blank lines, skipped"), 2U);
}

TEST_F(Tables, NameRaggedRowsAndRepeatedHeaders) {
  EXPECT_EQ(Rows(Write("a.csv", "q,d\n1,2\n3\n4,5,6\nq,d\n7,8\n")),
            "1|2 3:!rows with another number of fields than there are columns 4:!rows with another "
            "number of fields than there are columns 5:!rows that repeat the names of the columns "
            "7|8 ");
}

TEST_F(Tables, ReadNamesWhereTheyStand) {
  const std::string title = Write("a.csv", "Export of May\n\nq;d\n1;2\n");
  TableReader table(title, {.header_line = 3}, warnings_);
  EXPECT_THAT(table.columns(), ElementsAre("q", "d"));
  EXPECT_EQ(Rows(title, {.header_line = 3}), "1|2 ");
  const std::string bare = Write("b.csv", "1,2\n3,4\n");
  EXPECT_THAT(TableReader(bare, {.header_line = 0}, warnings_).columns(), ElementsAre("1", "2"));
  EXPECT_EQ(Rows(bare, {.header_line = 0}), "1|2 3|4 ");
  EXPECT_THAT(TableReader(Write("c.csv", ",q\n0,x\n"), {}, warnings_).columns(),
              ElementsAre("#1", "q"));
}

TEST_F(Tables, RefuseWhatIsNone) {
  EXPECT_THAT(ErrorOf("a.csv", "q,d,q\n1,2,3\n"),
              HasSubstr("a.csv:1: the columns 1 and 3 are both called \"q\"; rename one of them"));
  EXPECT_THAT(ErrorOf("b.csv", std::string_view("\xFF\xFEq\0,\0d\0\n\0", 10)),
              HasSubstr("is UTF-16LE, expected UTF-8: convert it with `iconv -f UTF-16 -t UTF-8"));
  EXPECT_THAT(ErrorOf("c.csv", "PK\x03\x04 [Content_Types].xml xl/workbook.xml"),
              HasSubstr("is an Excel workbook; save its sheet as CSV"));
  EXPECT_THAT(ErrorOf("d.csv", "%PDF-1.4"), HasSubstr("is a PDF file; make text of it"));
  EXPECT_THAT(ErrorOf("e.csv", ""), HasSubstr("holds no row"));
  EXPECT_THAT(ErrorOf("f.csv", "q,d\n1,2\n", {.header_line = 4}),
              HasSubstr("has no row on line 4"));
  EXPECT_THAT(ErrorOf("g.csv", "caf\xE9,d\n1,2\n"),
              HasSubstr("g.csv:1: the line of column names is not valid UTF-8"));
}

// What keys of training lines mean, columns mean.
TEST_F(Tables, AreTrainingLines) {
  const std::string path =
      Write("train.csv", "anchor;positive;negative_1;note\n\"a \"\"b\"\"\";\"p\nq\";n;x\na;r;;y\n");
  const Dataset dataset = ReadDataset(path, "auto", "train", &warnings_);
  ASSERT_EQ(dataset.judged.size(), 2U);
  EXPECT_EQ(dataset.queries.text(0), "a \"b\"");
  EXPECT_EQ(JudgedTexts(dataset, 0), "p\nq=1@2 n=0@2");
  EXPECT_EQ(JudgedTexts(dataset, 1), "r=1@4");  // the row before has two lines
  const std::string graded = Write("graded.tsv", "query\tdocument\tscore\na\tp\t0.5\nb\tq\t1\n");
  EXPECT_EQ(JudgedTexts(ReadDataset(graded, "auto", "train", &warnings_), 0), "p=1/0.5@2");
  const std::string labelled = Write("labelled.csv", "query,document,label\na,p,up\na,n,down\n");
  LineRules rules{.labels = {{"up", 1}, {"down", 0}}};
  EXPECT_EQ(JudgedTexts(ReadDataset(labelled, "auto", "train", rules, &warnings_), 0),
            "p=1/1@2 n=0/0@3");
}

TEST_F(Tables, AreReadWholeByTraining) {
  const auto error = [&](const std::string& name, std::string_view bytes) {
    const std::string path = Write(name, bytes);
    return DataErrorOf([&] { ReadDataset(path, "auto", "train", &warnings_); });
  };
  EXPECT_THAT(error("a.csv", "query,document\na,b\nc\n"),
              HasSubstr("a.csv:3: has 1 field where there are 2 columns"));
  EXPECT_THAT(error("a.csv", "query,document\na,b\nc\n"), HasSubstr("tandem import "));
  EXPECT_THAT(error("b.csv", "Frage,Antwort\na,b\n"),
              HasSubstr("b.csv:2: has no query; expected one of the columns anchor, query"));
  EXPECT_THAT(error("c.csv", "query,document,label\na,b,up\n"),
              HasSubstr("c.csv:2: \"label\" is \"up\""));
}

}  // namespace
}  // namespace tandem::data
