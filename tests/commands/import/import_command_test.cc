#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"

namespace tandem {
namespace {

using testing::HasSubstr;

class ImportCommand : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }
  std::string Write(const std::string& name, std::string_view text) const {
    WriteFileAtomically(Path(name), text);
    return Path(name);
  }
  bool Exists(const std::string& name) const { return std::filesystem::exists(Path(name)); }
  ProgramResult Import(const std::string& source, std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"import", source, "-o", Path("out")};
    words.insert(words.end(), more.begin(), more.end());
    return RunTandem(words);
  }
  void ExpectError(const ProgramResult& result, int exit_code, const std::string& message) const {
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_FALSE(Exists("out"));
  }

  TemporaryFolder folder_;
};

TEST_F(ImportCommand, SaysWhatItUnderstoodAndWrote) {
  const std::string csv = Write("faq.csv",
                                "\xEF\xBB\xBF"
                                "Frage;Antwort\r\nWie?;So.\r\nWo?\r\nWann?;Jetzt, gleich.\r\n");
  const ProgramResult result = Import(csv, {"--holdout", "0", "--max-rejected", "40%"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr(csv + "  CSV, separated by semicolons     3\n"
                                          "columns\n"
                                          "  query: \"Frage\" (by its name)\n"
                                          "  document: \"Antwort\" (by its name)\n"
                                          "rows                3\n"
                                          "rejected            1\n"));
  EXPECT_THAT(result.out, HasSubstr("rejected file       " + Path("out/rejected.jsonl") +
                                    "\n"
                                    "queries             2\n"
                                    "documents           2\n"
                                    "judgements          2\n"));
  EXPECT_THAT(result.err, HasSubstr("faq.csv: byte order marks, ignored: 1 (first at line 1)\n"));
  EXPECT_THAT(result.err, HasSubstr("warning: 1 of 3 rows cannot be used; they are in " +
                                    Path("out/rejected.jsonl") + ", each with its reason\n"));
  EXPECT_THAT(result.err,
              HasSubstr("wrote " + Path("out") + ": queries 2, documents 2, judgements 2\n"));
  EXPECT_THAT(ReadFile(Path("out/rejected.jsonl")), HasSubstr("\"row\": \"Wo?\""));
}

TEST_F(ImportCommand, JudgesDocumentsOfACorpus) {
  const std::string pages = Write("pages.csv", "question,page\nhow?,care.md\n");
  ExpectError(Import(pages), 2, "the column \"page\" names files (\"care.md\")");
  std::filesystem::create_directory(Path("wiki"));
  Write("wiki/corpus.jsonl",
        "{\"_id\": \"care.md#1\", \"text\": \"Wash cold.\"}\n"
        "{\"_id\": \"care.md#2\", \"text\": \"Dry flat.\"}\n");
  ExpectError(Import(pages, {"--corpus", Path("wiki"), "--split", "dev", "--holdout", "20%"}), 2,
              "--split puts all queries into one split, and --holdout makes three: give one");
  const ProgramResult result = Import(pages, {"--corpus", Path("wiki")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("document: \"page\" (its values are ids of the corpus)"));
  EXPECT_THAT(result.out, HasSubstr("judged documents    1\n"));
  EXPECT_THAT(result.err, HasSubstr("1 of 1 judged documents are passages in the corpus: evaluate, "
                                    "compare, report and search rank documents with "
                                    "--by-document\n"));
  EXPECT_THAT(result.err, testing::Not(HasSubstr("training")));
  EXPECT_TRUE(Exists("out/qrels/test.tsv"));
  std::filesystem::remove_all(Path("out"));
  const ProgramResult train = Import(pages, {"--corpus", Path("wiki"), "--split", "train"});
  EXPECT_THAT(train.err, HasSubstr("warning: training reads no judgements of documents that"));
  EXPECT_TRUE(Exists("out/qrels/train.tsv"));
  EXPECT_FALSE(Exists("out/qrels/test.tsv"));
}

TEST_F(ImportCommand, ItsFolderIsInspected) {
  std::string csv = "question,answer\n";
  for (int i = 0; i < 40; ++i) {
    csv += "question " + std::to_string(i * 7919) + "?,answer " + std::to_string(i * 104729) + "\n";
  }
  EXPECT_EQ(Import(Write("faq.csv", csv), {"--holdout", "20%"}).exit_code, 0);
  const auto found =
      nlohmann::json::parse(RunTandem({"inspect", Path("out"), "--format", "json"}).out);
  EXPECT_EQ(found["kind"], "beir");
  ASSERT_EQ(found["splits"].size(), 3U);
  EXPECT_EQ(found["splits"][0]["split"], "dev");
  EXPECT_EQ(found["splits"][0]["queries"], 4);
  EXPECT_EQ(found["splits"][1]["queries"], 4);
  EXPECT_EQ(found["splits"][2]["queries"], 32);
}

TEST_F(ImportCommand, DryRunShowsRowsAndWritesNothing) {
  const std::string file =
      Write("log.jsonl",
            "{\"prompt\": \"How?\", \"reply\": \"So.\", \"vote\": \"up\"}\n"
            "{\"prompt\": \"How?\", \"reply\": \"Or so.\", \"vote\": \"down\"}\n");
  const ProgramResult result =
      RunTandem({"import", file, "--dry-run", "--holdout", "0", "--format", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto found = nlohmann::json::parse(result.out);
  EXPECT_EQ(found["columns"][0]["understood"], "query: \"prompt\" (by its name)");
  EXPECT_EQ(
      found["first_rows"][1],
      (nlohmann::json{{"line", 2}, {"query", "How?"}, {"grade", "0"}, {"document", "Or so."}}));
  EXPECT_THAT(result.err, HasSubstr("labels that are words were read as down=0 (1), up=1 (1); "
                                    "--labels decides otherwise"));
  EXPECT_THAT(result.err, HasSubstr("nothing was written (--dry-run)"));
  EXPECT_FALSE(Exists("out"));
}

TEST_F(ImportCommand, GradesClicksAndWarnsWithoutPositions) {
  std::string log = "query\tdocument\tclicks\timpressions\n";
  for (int i = 0; i < 20; ++i) {
    log += "q" + std::to_string(i) + "\tgood " + std::to_string(i) + "\t30\t100\n";
    log += "q" + std::to_string(i) + "\tbad " + std::to_string(i) + "\t1\t100\n";
  }
  const ProgramResult result = Import(Write("log.tsv", log), {"--format", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("where documents were shown is not known (--position)"));
  const auto found = nlohmann::json::parse(result.out);
  EXPECT_EQ(found["clicks"]["pairs"], 40);
  EXPECT_EQ(found["grades"].size(), 2U);
}

TEST_F(ImportCommand, BadInput) {
  const std::string good = "question,answer\nq,a\n";
  ExpectError(Import(Write("a.csv", "question,answer,question\nq,a,b\n")), 3,
              "a.csv:1: the columns 1 and 3 are both called \"question\"; rename one of them");
  ExpectError(Import(Write("b.csv", "My export,\nquestion,answer\nq,a\n")), 2, "--header-line 2");
  ExpectError(Import(Write("c.csv", "question,answer\nq,\"a\nr,b\n")), 3,
              "c.csv:2: a quote that begins on this line never closes");
  ExpectError(Import(Write("d.csv", "question,answer,label\nq,a,so so\n")), 2,
              "none of 1 rows can be used, 1 of them rows whose label has no number (the first: " +
                  Path("d.csv") + ":2: the label \"so so\" has no number");
  ExpectError(Import(Write("e.csv", "question,answer\n")), 2, "holds no row beside the names");
  ExpectError(Import(Write("f.xlsx", "PK")), 2, "is an Excel workbook: save its sheet as CSV");
  ExpectError(Import(Write("g.pdf", "%PDF-1.7")), 2, "pdftotext");
  ExpectError(Import(Write("h.csv", std::string_view("\xFF\xFEq\0,\0", 6))), 3, "iconv -f UTF-16");
  ExpectError(Import(folder_.path().native()), 2, "tandem pairs ");
  ExpectError(
      Import(Write("i.jsonl", "[\"q\", \"a\"]\n{\"question\": \"q\", \"answer\": \"a\"}\n")), 2,
      "1 of 2 rows (50.0 %) cannot be used, more than --max-rejected 10%");
  ExpectError(Import(Write("j.csv", "question,answer\nq,caf\xE9\n")), 2,
              "the byte 0xE9 at column 6; a file in Windows-1252 or Latin-1 is converted with");
  ExpectError(Import(Write("k.csv", good), {"--document", "anser"}), 2, "did you mean answer?");
  ExpectError(Import(Write("k.csv", good)), 2, "too few to hold some out; --holdout 0");
  ExpectError(Import(Write("k.csv", good), {"--holdout", "80%"}), 2,
              "--holdout is \"80%\"; expected a share from 0 to 50%");
  ExpectError(Import(Write("k.csv", good), {"--delimiter", "ab"}), 2, "--delimiter is \"ab\"");
  ExpectError(RunTandem({"import", Path("k.csv")}), 2, "--output is missing");
  MakeFolder(Path("there"));
  ExpectError(RunTandem({"import", Path("k.csv"), "-o", Path("there")}), 2, "exists already");
}

TEST_F(ImportCommand, RaggedRowsAndSecondLineOfNames) {
  std::string csv = "question,answer\nquestion,answer\n";
  for (int i = 0; i < 30; ++i) csv += "q" + std::to_string(i) + ",a" + std::to_string(i) + "\n";
  csv += "only a question\n";
  EXPECT_EQ(Import(Write("a.csv", csv), {"--holdout", "0"}).exit_code, 0);
  const std::string rejected = ReadFile(Path("out/rejected.jsonl"));
  EXPECT_THAT(rejected, HasSubstr("\"line\": 2, \"reason\": \"repeats the names of the columns\""));
  EXPECT_THAT(rejected, HasSubstr("\"line\": 33, \"reason\": \"has 1 field where there are 2 "));
}

TEST_F(ImportCommand, TablesAreTrainingLinesOfOtherCommands) {
  const std::string csv = Write("t.csv", "anchor;positive;negative\nq;p;n\nr;s;m\nt;u;v\nw;x;y\n");
  const auto found = nlohmann::json::parse(RunTandem({"inspect", csv, "--format", "json"}).out);
  EXPECT_EQ(found["kind"], "training_lines");
  EXPECT_EQ(found["queries"], 4);
  EXPECT_EQ(found["negatives"], 4);
  const std::string tsv = Write("t.tsv", "query\tdocument\nq\td\n");
  EXPECT_THAT(RunTandem({"inspect", tsv}).out, HasSubstr("training_lines"));
  const std::string qrels = Write("q.tsv", "query-id\tcorpus-id\tscore\nq\td\t1\n");
  EXPECT_THAT(RunTandem({"inspect", qrels}).out, HasSubstr("judgements"));
  const ProgramResult converted =
      RunTandem({"convert", csv, "--to", "flag_embedding", "--output", Path("f.jsonl")});
  EXPECT_EQ(converted.exit_code, 0) << converted.err;
  EXPECT_THAT(ReadFile(Path("f.jsonl")),
              HasSubstr("{\"query\": \"q\", \"pos\": [\"p\"], \"neg\": [\"n\"]}"));
}

TEST_F(ImportCommand, ConvertHoldsOut) {
  std::string lines;
  for (int i = 0; i < 20; ++i) {
    const std::string n = std::to_string(i * 7919);
    lines += "{\"anchor\": \"question " + n + "\", \"positive\": \"answer " + n + "\"}\n";
  }
  const std::string file = Write("t.jsonl", lines);
  const auto convert = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"convert", file, "--output", Path("out")};
    words.insert(words.end(), more.begin(), more.end());
    return RunTandem(words);
  };
  ExpectError(convert({"--to", "tevatron", "--holdout", "20%"}), 2, "--to beir");
  ExpectError(convert({"--to", "beir", "--split", "dev", "--holdout", "20%"}), 2,
              "--split names the split");
  ExpectError(convert({"--to", "beir", "--split-by", "queries"}), 2, "without --holdout");
  const ProgramResult result = convert({"--to", "beir", "--holdout", "20%"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("judgements 20, queries with a positive in train 16, dev 2, "
                                    "test 2\n"));
  for (const char* split : {"train", "dev", "test"}) {
    EXPECT_TRUE(Exists(std::string("out/qrels/") + split + ".tsv"));
  }
}

}  // namespace
}  // namespace tandem
