#include "data/formats/beir.h"

#include "data/data_test.h"
#include "support/test_data.h"

namespace tandem::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(LoadBeir, ReadsTextsAndGradedJudgements) {
  const BeirFolder folder;
  Warnings warnings;
  const Dataset dataset = LoadBeir(folder.path(), "test", &warnings);
  EXPECT_THAT(warnings.Messages(), IsEmpty());
  ASSERT_EQ(dataset.documents.size(), 3U);
  EXPECT_EQ(dataset.documents.id(0), "d1");
  EXPECT_EQ(dataset.documents.text(0), "Title first document");
  EXPECT_EQ(dataset.documents.text(1), "second document");
  EXPECT_EQ(dataset.documents.text(2), "third");
  EXPECT_EQ(dataset.documents.Find("d3"), 2U);
  EXPECT_EQ(dataset.documents.Find("d4"), std::nullopt);
  ASSERT_EQ(dataset.queries.size(), 2U);
  EXPECT_EQ(dataset.queries.text(1), "two");
  ASSERT_EQ(dataset.judged.size(), 2U);  // in order of first mention: q2, q1
  EXPECT_EQ(dataset.judged[0].query, 1U);
  ASSERT_EQ(dataset.judged[0].judgements.size(), 2U);
  EXPECT_EQ(dataset.judged[0].judgements[0].document, 0U);
  EXPECT_EQ(dataset.judged[0].judgements[0].grade, 2);
  EXPECT_EQ(dataset.judged[0].judgements[1].document, 1U);
  EXPECT_EQ(dataset.judged[0].judgements[1].grade, 0);
  EXPECT_EQ(dataset.judged[1].query, 0U);
}

TEST(LoadBeir, ReadsGzipAndMovedDatasetsKeepTheirTexts) {
  BeirFolder folder;
  const std::string corpus = ReadFile(folder.path() / "corpus.jsonl");
  std::filesystem::remove(folder.path() / "corpus.jsonl");
  WriteGzip(folder.path() / "corpus.jsonl.gz", corpus);
  Dataset first = LoadBeir(folder.path(), "test");
  const Dataset moved = std::move(first);
  EXPECT_EQ(moved.documents.text(0), "Title first document");
  EXPECT_EQ(moved.documents.Find("d2"), 1U);
}

TEST(LoadBeir, CorpusAndQueriesAlone) {
  const BeirFolder folder;
  std::filesystem::remove_all(folder.path() / "qrels");
  EXPECT_EQ(LoadBeirCorpus(folder.path()).size(), 3U);
  EXPECT_EQ(LoadBeirQueries(folder.path()).text(0), "one");
}

TEST(LoadBeir, UnknownIdsAreDroppedAndCounted) {
  BeirFolder folder;
  folder.Write("qrels/test.tsv", "q1\td9\t1\nq1\td3\t1\nq8\td1\t1\nq8\td2\t1\nq2\td9\t1\n");
  Warnings warnings;
  const Dataset dataset = LoadBeir(folder.path(), "test", &warnings);
  ASSERT_EQ(dataset.judged.size(), 1U);
  EXPECT_EQ(dataset.judged[0].judgements.size(), 1U);
  const std::string file = (folder.path() / "qrels/test.tsv").native();
  EXPECT_THAT(warnings.Messages(),
              ElementsAre(file + ": judgements of unknown documents, dropped: 2 (first at id d9)",
                          file + ": judgements of unknown queries, dropped: 2 (first at id q8)"));
}

TEST(LoadBeir, NothingLeftIsAnError) {
  BeirFolder folder;
  folder.Write("qrels/test.tsv", "q1\td9\t1\nq8\td1\t1\n");
  Warnings warnings;
  EXPECT_THAT(DataErrorOf([&] { LoadBeir(folder.path(), "test", &warnings); }),
              HasSubstr("qrels/test.tsv: no judgement is left: all of them name queries or "
                        "documents that the folder does not have (id q1)"));
}

TEST(LoadBeir, AMissingSplitNamesThoseThatExist) {
  BeirFolder folder;
  folder.Write("qrels/dev.tsv.gz", "");
  EXPECT_EQ(DataErrorOf([&] { LoadBeir(folder.path(), "train"); }),
            folder.path().native() + ": has no split train; it has dev, test");
  EXPECT_EQ(DataErrorOf([&] { LoadBeir(folder.path(), "../qrels/test"); }),
            folder.path().native() + ": has no split ../qrels/test; it has dev, test");
  folder.Write("qrels/train.tsv", "");
  EXPECT_EQ(
      DataErrorOf([&] { LoadBeir(folder.path(), "eval"); }),
      folder.path().native() + ": has no split eval; it has dev, test, train (tandem convert " +
          folder.path().native() + " --to beir --holdout 15% --output OTHER makes more of train)");
  std::filesystem::remove_all(folder.path() / "qrels");
  const std::string error = DataErrorOf([&] { LoadBeir(folder.path(), "train"); });
  EXPECT_THAT(error, testing::StartsWith(
                         folder.path().native() +
                         ": has no split train: qrels/ is missing or holds no .tsv; `tandem import "
                         "questions.csv --corpus " +
                         folder.path().native() + " --split train -o OTHER` makes OTHER"));
  EXPECT_THAT(error,
              HasSubstr("qrels/train.tsv, whose first line is query-id\\tcorpus-id\\tscore"));
  EXPECT_THAT(DataErrorOf([&] { LoadBeir(folder.path(), "test"); }),
              HasSubstr(" --corpus " + folder.path().native() + " -o OTHER` makes"));
}

// A corpus without queries, as `tandem pairs --corpus-only` makes it.
TEST(LoadBeir, ACorpusWithoutQueriesSaysHowToGetThem) {
  BeirFolder folder;
  std::filesystem::remove(folder.path() / "queries.jsonl");
  EXPECT_THAT(DataErrorOf([&] { LoadBeir(folder.path(), "test"); }),
              HasSubstr("has neither queries.jsonl nor queries.jsonl.gz; `tandem import "
                        "questions.csv --corpus "));
}

TEST(LoadBeir, MissingFoldersAndFilesAreNamed) {
  BeirFolder folder;
  EXPECT_THAT(DataErrorOf([&] { LoadBeir(folder.path() / "none", "test"); }),
              HasSubstr("/none: there is no such folder; expected one with corpus.jsonl"));
  EXPECT_THAT(DataErrorOf([&] { LoadBeir(folder.path() / "corpus.jsonl", "test"); }),
              HasSubstr("/corpus.jsonl: is not a folder"));
  folder.Write("queries.jsonl.gz", "");
  EXPECT_EQ(DataErrorOf([&] { LoadBeir(folder.path(), "test"); }),
            folder.path().native() + ": has both queries.jsonl and queries.jsonl.gz; remove one");
  std::filesystem::remove(folder.path() / "corpus.jsonl");
  EXPECT_EQ(DataErrorOf([&] { LoadBeir(folder.path(), "test"); }),
            folder.path().native() + ": has neither corpus.jsonl nor corpus.jsonl.gz");
}

TEST(LoadBeir, AFolderOfOtherFilesSaysWhichMayBeMeant) {
  TemporaryFolder folder;
  WriteFileAtomically(folder.path() / "train.jsonl", "");
  EXPECT_EQ(DataErrorOf([&] { LoadBeir(folder.path(), "test"); }),
            folder.path().native() +
                ": has neither corpus.jsonl nor corpus.jsonl.gz; give its file train.jsonl");
  for (const char* name : {"a.tsv", "b.csv", "c.json.gz", "d.txt", "e.jsonl", "image.png"}) {
    WriteFileAtomically(folder.path() / name, "");
  }
  Warnings warnings;
  EXPECT_EQ(DataErrorOf([&] { LineReader reader(folder.path(), warnings); }),
            folder.path().native() +
                ": is a folder, expected a file; give one of its files: a.tsv, b.csv, c.json.gz, "
                "d.txt, e.jsonl and 1 other");
}

TEST(LoadBeir, AnotherSplitOfTextsThatAreThere) {
  BeirFolder folder;
  folder.Write("qrels/dev.tsv", "q1\td2\t1\n");
  const Dataset test = LoadBeir(folder.path(), "test");
  const Dataset dev = LoadBeirSplit(folder.path(), "dev", {test.documents, test.queries});
  const Dataset read = LoadBeir(folder.path(), "dev");
  EXPECT_EQ(JudgedTexts(dev, 0), JudgedTexts(read, 0));
  EXPECT_EQ(dev.judged.size(), read.judged.size());
  EXPECT_EQ(dev.file, read.file);
  EXPECT_TRUE(dev.has_grades);
  EXPECT_EQ(dev.documents.text(0).data(), test.documents.text(0).data());
  EXPECT_EQ(dev.queries.text(0).data(), test.queries.text(0).data());
  EXPECT_EQ(DataErrorOf([&] {
              LoadBeirSplit(folder.path(), "train", {test.documents, test.queries});
            }),
            folder.path().native() + ": has no split train; it has dev, test");
}

// The counts that the folders' own SOURCE.md and README.md give.
TEST(LoadBeir, RealFoldersHaveTheirCounts) {
  const auto shared = SharedDir();
  if (!shared) GTEST_SKIP() << kNoSharedDir;
  struct Expected {
    const char* folder;
    const char* split;
    size_t documents;
    size_t judged;
  };
  for (const Expected& expected :
       {Expected{"scifact", "test", 5183, 300}, Expected{"scifact", "train", 5183, 809},
        Expected{"cranfield", "test", 1398, 225}, Expected{"medquad", "dev", 15809, 1190},
        Expected{"squad-v1.1", "train", 20958, 87599}, Expected{"xquad/zh", "test", 240, 1190}}) {
    Warnings warnings;
    const Dataset dataset = LoadBeir(*shared / "data" / expected.folder, expected.split, &warnings);
    EXPECT_EQ(dataset.documents.size(), expected.documents) << expected.folder;
    EXPECT_EQ(dataset.judged.size(), expected.judged) << expected.folder;
  }
}

}  // namespace
}  // namespace tandem::data
