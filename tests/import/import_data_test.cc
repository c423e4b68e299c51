#include "import/import_data.h"

#include <memory>
#include <string>
#include <vector>

#include "data/formats/beir.h"
#include "data/read_dataset.h"
#include "import_test.h"

namespace tandem::import_data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class ImportDataTest : public FilesTest {
 protected:
  ImportReport Import(std::vector<std::string> sources, ImportOptions options = All()) {
    options.sources = std::move(sources);
    options.output = Path("out");
    data::Warnings warnings;
    return ImportData(options, warnings);
  }
  ImportReport ImportCsv(std::string_view csv, const ImportOptions& options = All()) {
    return Import({Write("f.csv", csv)}, options);
  }
  std::string Error(std::string_view csv, const ImportOptions& options = All()) {
    const std::string error = ErrorOf(ExitCode::kUsage, [&] { ImportCsv(csv, options); });
    EXPECT_FALSE(Exists("out"));
    return error;
  }
  // All queries are in train, and every row may be rejected but one.
  static ImportOptions All() { return {.most_rejected = 0.99, .holdout = {.share = 0}}; }

  // "QUERY: DOCUMENT=GRADE DOCUMENT=GRADE; " of a split.
  std::string Judged(const std::string& split = "train") {
    const data::Dataset dataset = data::ReadDataset(Path("out"), "beir", split);
    std::string all;
    for (const data::JudgedQuery& judged : dataset.judged) {
      all += fmt::format("{}:", dataset.queries.text(judged.query));
      for (const data::Judgement& one : judged.judgements) {
        all += fmt::format(" {}={}", dataset.documents.text(one.document), one.grade);
      }
      all += "; ";
    }
    return all;
  }
};

TEST_F(ImportDataTest, OfQuestionsAndAnswers) {
  const ImportReport report =
      ImportCsv("question,answer\nq1,a1\nq2,\"a, \"\"2\"\"\"\nq1,a3\nq3,a1\nq1,a1\n");
  EXPECT_EQ(Judged(), "q1: a1=1 a3=1; q2: a, \"2\"=1; q3: a1=1; ");
  EXPECT_EQ(report.rows, 5U);
  EXPECT_EQ(report.queries, 3U);
  EXPECT_EQ(report.documents, 3U);
  EXPECT_EQ(report.judgements, 4U);
  EXPECT_EQ(report.repeated, 1U);
  EXPECT_EQ(report.contradicting, 0U);
  EXPECT_FALSE(Exists("out/rejected.jsonl"));
  EXPECT_FALSE(Exists("out/qrels/test.tsv"));
}

TEST_F(ImportDataTest, GivesTextsIdsThatDependOnNothingElse) {
  ImportCsv("question,answer\nq1,a1\n");
  const std::string corpus = Read("out/corpus.jsonl");
  EXPECT_THAT(corpus, testing::MatchesRegex(
                          "\\{\"_id\": \"d[0-9a-f]{16}\", \"title\": \"\", \"text\": \"a1\"\\}\n"));
  std::filesystem::remove_all(Path("out"));
  ImportCsv("question,answer\nq0,a0\nq1,a1\n");
  EXPECT_THAT(Read("out/corpus.jsonl"), HasSubstr(corpus));
}

TEST_F(ImportDataTest, KeepsIdsAndTitles) {
  const ImportReport report = ImportCsv(
      "query_id,query,doc_id,title,text\n7,q,D 1,T,a\n7,q,D 2,,b\n8,r,D 3,T,a\n8,s,D 2,,b\n9,t,D "
      "1,,c\n");
  EXPECT_EQ(Judged(), "q: T a=1 b=1; r: T a=1; ");
  EXPECT_THAT(Read("out/corpus.jsonl"),
              HasSubstr("{\"_id\": \"D 1\", \"title\": \"T\", \"text\": \"a\"}\n"));
  EXPECT_THAT(Read("out/queries.jsonl"), HasSubstr("{\"_id\": \"8\", \"text\": \"r\"}\n"));
  EXPECT_EQ(report.merged_ids, 1U);  // D 3 has the text of D 1
  // One id, two texts: of query 8, and of D 1.
  EXPECT_EQ(report.rejected, 2U);
  const std::string rejected = Read("out/rejected.jsonl");
  EXPECT_THAT(rejected, testing::StartsWith("{\"file\": \"" + Path("f.csv") +
                                            "\", \"line\": 5, \"reason\": \"the query id \\\"8\\\" "
                                            "had another text in an earlier row (--id or"));
  EXPECT_THAT(rejected, HasSubstr(", \"row\": \"8,s,D 2,,b\"}\n{\"file\": \""));
  EXPECT_THAT(rejected,
              HasSubstr("\"line\": 6, \"reason\": \"the id \\\"D 1\\\" had another text"));
  EXPECT_THAT(rejected, testing::EndsWith("\"row\": \"9,t,D 1,,c\"}\n"));
}

TEST_F(ImportDataTest, OfNegativesAndLists) {
  ImportReport report = ImportCsv("query,positive,negative_1,negative_2\nq,p,n,m\nr,p,,q\n");
  EXPECT_EQ(Judged(), "q: p=1 n=0 m=0; r: p=1 q=0; ");
  EXPECT_EQ(report.empty_negatives, 1U);
  std::filesystem::remove_all(Path("out"));
  Import({Write("f.jsonl",
                "{\"frage\": 5, \"docs\": [\"a\", \"b\"], \"bad_negatives\": [\"n\"], \"x\": {}}\n"
                "{\"frage\": \"s\", \"docs\": [], \"x\": 1}\n")});
  EXPECT_EQ(Judged(), "5: a=1 b=1 n=0; ");
}

TEST_F(ImportDataTest, OfLabels) {
  ImportOptions options = All();
  options.labels = {{"E", 2}, {"S", 1}, {"I", 0}};
  const ImportReport report =
      ImportCsv("query,product,esci_label\nq,a,E\nq,b,I\nq,c,S\nq,d,C\nq,c,E\nq,e,\nq,a,S\n", [&] {
        options.columns.document = "product";
        return options;
      }());
  EXPECT_EQ(Judged(), "q: a=2 b=0 c=2; ");
  EXPECT_THAT(report.grades, ElementsAre(Pair(0, 1), Pair(2, 2)));
  EXPECT_EQ(report.contradicting, 2U);  // the higher grade stands, whichever comes first
  ASSERT_EQ(report.rejected_kinds.size(), 2U);
  EXPECT_EQ(report.rejected_kinds[0].kind, "rows whose label has no number");
  EXPECT_EQ(report.rejected_kinds[0].first_line, "5");
  EXPECT_EQ(report.rejected_kinds[1].kind, "rows without a label");
}

TEST_F(ImportDataTest, OfThumbs) {
  const ImportReport report = ImportCsv("question,answer,feedback\nq,a,👍\nq,b,👎\n");
  EXPECT_EQ(Judged(), "q: a=1 b=0; ");
  EXPECT_THAT(report.thumbs, ElementsAre(Pair("👍=1", 1), Pair("👎=0", 1)));
}

TEST_F(ImportDataTest, PositionsCountFromOneAndMayBeUnknown) {
  const ImportReport report = ImportCsv(
      "query,document,clicks,impressions,position\nq,a,5,100,1\nq,b,5,100,\nq,c,5,100,0\n");
  EXPECT_EQ(report.rejected, 1U);
  EXPECT_THAT(Read("out/rejected.jsonl"), HasSubstr("positions count from 1"));
}

TEST_F(ImportDataTest, NumbersOfLabelsAreGrades) {
  ImportOptions options = All();
  options.labels = {{"up", 1}, {"down", -1}};
  EXPECT_THAT(Error("query,document,label\nq,a,up\nq,b,down\n", options),
              HasSubstr("--labels gives \"down\" the number -1"));
}

TEST_F(ImportDataTest, OfClicks) {
  const ImportReport report = ImportCsv(
      "query,document,clicks,impressions\nq,good,50,100\nq,bad,1,100\nq,rare,1,2\nq,good,10,20\n"
      "q,odd,5,4\nq,none,x,4\n");
  EXPECT_EQ(Judged(), "q: good=1 bad=0; ");
  ASSERT_TRUE(report.clicks);
  EXPECT_EQ(report.clicks->pairs, 3U);
  EXPECT_EQ(report.clicks->few_impressions, 1U);
  EXPECT_EQ(report.rejected, 2U);
  EXPECT_EQ(report.documents, 3U);  // documents of pairs that are left out stay in the corpus
}

TEST_F(ImportDataTest, OfSeveralFiles) {
  const std::string csv = Write("a.csv", "question,answer\nq,a\n");
  const std::string json = Write("b.json", "[{\"prompt\": \"q\", \"response\": \"b\"}]");
  const ImportReport report = Import({csv, json});
  EXPECT_EQ(Judged(), "q: a=1 b=1; ");
  ASSERT_EQ(report.sources.size(), 2U);
  EXPECT_EQ(report.sources[1].description, "a JSON array");
  EXPECT_THAT(report.sources[1].reasons, ElementsAre("query: \"prompt\" (by its name)",
                                                     "document: \"response\" (by its name)"));
}

TEST_F(ImportDataTest, NamesTheElementOfAnArrayThatStandsOnOneLine) {
  const std::string json =
      Write("a.json", R"([{"query": "q", "document": "d"}, {"query": "", "document": "d"}, 7])");
  ImportOptions options = All();
  options.most_rejected = 1;
  const ImportReport report = Import({json}, options);
  ASSERT_EQ(report.rejected_kinds.size(), 2U);
  EXPECT_EQ(report.rejected_kinds[0].first_line, "1, element 2");
  EXPECT_EQ(report.rejected_kinds[1].first_line, "1, element 3");
  EXPECT_THAT(Read("out/rejected.jsonl"), HasSubstr(R"("line": 1, "element": 3, "reason": )"));
}

TEST_F(ImportDataTest, SplitsThatCannotBeMadeHideNoRejectedRows) {
  ImportOptions options = All();
  options.holdout = {.share = 0.3};
  const std::string rows = "query,document\nq,d\nr,e\ns,f\n";
  EXPECT_EQ(Error(rows, options).find("Besides"), std::string::npos);
  options.most_rejected = 1;
  const std::string error = Error(rows + "t,\nu,\n", options);
  EXPECT_THAT(error, HasSubstr("3 queries with a positive are too few to hold some out"));
  EXPECT_THAT(error, HasSubstr("Besides, 2 of 5 rows cannot be used, 2 of them"));
  EXPECT_THAT(error, HasSubstr("all are in "));
  const std::string no_grade = Error("query,document,label\nq,d,0\nr,e,meh\ns,f,0\n", options);
  EXPECT_THAT(no_grade, HasSubstr("all grades are 0"));
  EXPECT_THAT(no_grade, HasSubstr("Besides, 1 of 3 rows cannot be used"));
  EXPECT_THAT(no_grade, HasSubstr("--labels meh=..."));
}

// Rows that no file has.
class MadeRows final : public RowSource {
 public:
  bool Next(Row* row) override {
    if (++line_ > 3) return false;
    text_ = fmt::format("made {}", line_);
    cells_[0].text = text_;
    cells_[1].text = "answer";
    *row = {.cells = cells_, .file = "made", .line = line_, .raw = text_};
    return true;
  }
  std::string Description() const override { return "made rows"; }

 private:
  int64_t line_ = 0;
  std::string text_;
  std::vector<data::JsonField> cells_ = {
      {.key = "query", .kind = data::JsonField::Kind::kString},
      {.key = "document", .kind = data::JsonField::Kind::kString}};
};

TEST_F(ImportDataTest, OfRowsThatTheCallerOpens) {
  ImportOptions options = All();
  options.open = [](const std::string& source, data::Warnings&) {
    EXPECT_EQ(source, "anything");
    return std::make_unique<MadeRows>();
  };
  const ImportReport report = Import({"anything"}, options);
  EXPECT_EQ(Judged(), "made 1: answer=1; made 2: answer=1; made 3: answer=1; ");
  EXPECT_EQ(report.sources[0].description, "made rows");
}

TEST_F(ImportDataTest, MakesSplitsThatShareNothing) {
  std::string csv = "question,answer,negative\n";
  for (int i = 0; i < 60; ++i) {
    csv += fmt::format("how many {0} {1} are in {0}?,{1} of them {0},{2} of them {3}\n",
                       i * 7919 % 1009, i * 104729 % 997, (i + 1) * 104729 % 997,
                       (i + 1) * 7919 % 1009);
  }
  ImportOptions options = All();
  options.holdout = {.share = 0.3};
  const ImportReport report = ImportCsv(csv, options);
  EXPECT_EQ(report.splits.at(Split::kTest).queries, 9U);
  EXPECT_EQ(report.splits.at(Split::kDev).queries, 9U);
  EXPECT_EQ(report.splits.at(Split::kTrain).queries, 42U);
  // Each negative is the answer of the next question: those of held-out questions are not in train.
  EXPECT_GT(report.kept_from_train, 0U);
  const std::string train = Judged("train");
  for (const char* split : {"test", "dev"}) {
    const data::Dataset held = data::ReadDataset(Path("out"), "beir", split);
    for (const data::JudgedQuery& judged : held.judged) {
      for (const data::Judgement& one : judged.judgements) {
        if (one.grade == 0) continue;
        const std::string document(held.documents.text(one.document));
        EXPECT_EQ(train.find(" " + document + "="), std::string::npos) << document;
      }
    }
  }
}

TEST_F(ImportDataTest, SameBytesFromTheSameRows) {
  std::string csv = "question,answer\n";
  for (int i = 0; i < 50; ++i) csv += fmt::format("word{} about {}?,the answer {}\n", i, i * i, i);
  ImportOptions options = All();
  options.holdout = {.share = 0.2};
  const std::vector<std::string> files = {"corpus.jsonl", "queries.jsonl", "qrels/train.tsv",
                                          "qrels/dev.tsv", "qrels/test.tsv"};
  ImportCsv(csv, options);
  std::vector<std::string> first;
  for (const std::string& file : files) first.push_back(Read("out/" + file));
  std::filesystem::remove_all(Path("out"));
  ImportCsv(csv, options);
  for (size_t i = 0; i < files.size(); ++i) EXPECT_EQ(Read("out/" + files[i]), first[i]);
}

TEST_F(ImportDataTest, RefusesWhereTooMuchIsRejected) {
  const std::string csv = "question,answer\nq,a\nr\ns,b\nt,\n";
  ImportOptions options = All();
  options.most_rejected = 0.4;
  const std::string error = Error(csv, options);
  EXPECT_THAT(error,
              HasSubstr("2 of 4 rows (50.0 %) cannot be used, more than --max-rejected 40%"));
  EXPECT_THAT(error, HasSubstr("f.csv:3: has 1 field where there are 2 columns"));
  EXPECT_THAT(error, HasSubstr("all are in " + Path("out.rejected.jsonl")));
  EXPECT_THAT(Read("out.rejected.jsonl"), HasSubstr("\"line\": 5, \"reason\": \"\\\"answer\\\" is "
                                                    "empty\", \"row\": \"t,\""));
  options.most_rejected = 0.5;
  EXPECT_EQ(ImportCsv(csv, options).rejected, 2U);
}

TEST_F(ImportDataTest, RefusesWhereNothingIsLeft) {
  EXPECT_THAT(Error("question,answer\n"), HasSubstr("holds no row beside the names"));
  const std::string error = Error("question,answer,label\nq,a,maybe\nr,b,sure\n");
  EXPECT_THAT(error, HasSubstr("none of 2 rows can be used, 2 of them rows whose label has no "
                               "number"));
  EXPECT_THAT(error, HasSubstr("--labels maybe=...,sure=..."));
  EXPECT_THAT(Error("question,answer,label\nq,a,0\n"), HasSubstr("all grades are 0"));
  EXPECT_THAT(Error("query,document,clicks,impressions\nq,a,1,2\n"),
              HasSubstr("of 1 pairs 1 were shown less than --min-impressions 10"));
}

TEST_F(ImportDataTest, NumbersOfLabelsNeedAColumnOfThem) {
  ImportOptions options = All();
  options.labels = {{"up", 1}};
  EXPECT_THAT(Error("question,answer,colour\nq,a,up\n", options),
              HasSubstr("no column of labels was found; name it with --label"));
}

TEST_F(ImportDataTest, OutputThatExists) {
  MakeFolder(Path("out"));
  const std::string error = ErrorOf(ExitCode::kUsage, [&] { ImportCsv("question,answer\nq,a\n"); });
  EXPECT_THAT(error, HasSubstr("exists already"));
}

TEST_F(ImportDataTest, TrialWritesNothing) {
  ImportOptions options = All();
  options.is_trial = true;
  const ImportReport report = ImportCsv("question,title,answer\nq,T,a\n", options);
  EXPECT_FALSE(Exists("out"));
  ASSERT_EQ(report.shown.size(), 1U);
  EXPECT_EQ(report.shown[0].query, "q");
  EXPECT_EQ(report.shown[0].document, "T a");
  EXPECT_EQ(report.judgements, 1U);
}

// Asked after the rows were read: while splits are made.
TEST_F(ImportDataTest, StopsWhileSplitsAreMade) {
  ImportOptions options = All();
  options.holdout.share = 0.5;
  int asked = 0;
  options.stop = [&] { return ++asked > 1 ? 15 : 0; };
  EXPECT_THROW(ImportCsv("question,answer\nq,a\nr,b\ns,c\nt,d\n", options), Interrupted);
  EXPECT_EQ(asked, 2);
  EXPECT_FALSE(Exists("out"));
}

TEST_F(ImportDataTest, StopsWhenAsked) {
  ImportOptions options = All();
  options.stop = [] { return 2; };
  EXPECT_THROW(ImportCsv("question,answer\nq,a\n", options), Interrupted);
  EXPECT_FALSE(Exists("out"));
}

}  // namespace
}  // namespace tandem::import_data
