#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/files/files.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"

namespace tandem {
namespace {

using testing::HasSubstr;

class ConvertCommand : public testing::Test {
 protected:
  ConvertCommand() {
    MakeFolder(folder_.path() / "data" / "qrels");
    Write("data/corpus.jsonl", R"({"_id": "d1", "title": "T", "text": "one"}
{"_id": "d2", "text": "two"}
)");
    Write("data/queries.jsonl", R"({"_id": "q1", "text": "a"}
{"_id": "q2", "text": "b"}
)");
    Write("data/qrels/train.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n");
    Write("data/qrels/dev.tsv", "query-id\tcorpus-id\tscore\nq2\td2\t2\nq2\td1\t1\n");
    Write("scored.jsonl", R"({"anchor": "a", "positive": "p", "score": 0.5})"
                          "\n");
  }

  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }
  void Write(const std::string& name, const std::string& text) const {
    WriteFileAtomically(Path(name), text);
  }
  ProgramResult Convert(const std::string& data, const std::string& to, const std::string& output,
                        std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"convert", Path(data), "--to", to, "--output", Path(output)};
    words.insert(words.end(), more.begin(), more.end());
    return RunTandem(words);
  }
  void ExpectError(const ProgramResult& result, int exit_code, const std::string& message) const {
    EXPECT_EQ(result.exit_code, exit_code);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_FALSE(std::filesystem::exists(Path("out")));
  }

  TemporaryFolder folder_;
};

TEST_F(ConvertCommand, WritesASplitAndSaysWhatWasWritten) {
  const ProgramResult result = Convert("data", "tevatron", "out");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "warning: " + Path("out") + ": queries without judgement, left out: 1\n" +
                            "wrote " + Path("out") +
                            ": queries 1, documents 2, judgements 2, lines 1\n");
  EXPECT_EQ(
      ReadFile(Path("out")),
      R"({"query_id": "q1", "query": "a", "positive_passages": [{"docid": "d1", "title": "T", "text": "one"}], "negative_passages": [{"docid": "d2", "title": "", "text": "two"}]}
)");
}

TEST_F(ConvertCommand, ReadsTheSplitThatIsAskedFor) {
  EXPECT_EQ(Convert("data", "flag_embedding", "dev.jsonl", {"--split", "dev"}).exit_code, 0);
  EXPECT_EQ(
      ReadFile(Path("dev.jsonl")),
      R"({"query": "b", "pos": ["two", "T one"], "neg": [], "pos_scores": [2, 1], "neg_scores": []}
)");
  ExpectError(Convert("data", "tevatron", "out", {"--split", "test"}), 3,
              "has no split test; it has dev, train");
}

TEST_F(ConvertCommand, SplitNamesTheJudgementsOfANewFolder) {
  EXPECT_EQ(
      Convert("scored.jsonl", "beir", "out", {"--scores", "grades", "--split", "dev"}).exit_code,
      0);
  EXPECT_EQ(ReadFile(Path("out/qrels/dev.tsv")),
            "query-id\tcorpus-id\tscore\n1\t1:positive\t0.5\n");
}

TEST_F(ConvertCommand, ScoresAreIgnoredOnRequest) {
  EXPECT_EQ(Convert("scored.jsonl", "beir", "out", {"--scores", "ignored"}).exit_code, 0);
  EXPECT_EQ(ReadFile(Path("out/qrels/train.tsv")),
            "query-id\tcorpus-id\tscore\n1\t1:positive\t1\n");
}

TEST_F(ConvertCommand, LabelsSayWhatIsAPositive) {
  Write("labels.jsonl", R"({"query": "a", "answer": ["n", "p"], "labels": [0, 1]})"
                        "\n");
  EXPECT_EQ(Convert("labels.jsonl", "beir", "out").exit_code, 0);
  EXPECT_EQ(ReadFile(Path("out/qrels/train.tsv")),
            "query-id\tcorpus-id\tscore\n1\t1:answer:1\t0\n1\t1:answer:2\t1\n");
  Write("words.jsonl", R"({"query": "a", "answer": "p", "label": "up"})"
                       "\n"
                       R"({"query": "a", "answer": "n", "label": "down"})"
                       "\n");
  EXPECT_EQ(
      Convert("words.jsonl", "flag_embedding", "w.jsonl", {"--labels", "up=1,down=0"}).exit_code,
      0);
  EXPECT_EQ(ReadFile(Path("w.jsonl")),
            R"({"query": "a", "pos": ["p"], "neg": ["n"], "pos_scores": [1], "neg_scores": [0]})"
            "\n");
}

TEST_F(ConvertCommand, ScoresThatNeedARuleAreRefused) {
  Write("list.jsonl", R"({"query": "a", "answer": ["p", "n"], "scores": [0.8, 0.3]})"
                      "\n");
  ExpectError(Convert("list.jsonl", "sentence_transformers", "out"), 3,
              "list.jsonl:1: \"scores\" has 0.8 for a document of a list that may hold positives "
              "and negatives");
  ExpectError(Convert("scored.jsonl", "tevatron", "out"), 2,
              "scored.jsonl: its scores are grades of pairs, and tevatron has lists of positives "
              "and negatives: say from which grade on a document is a positive, by --scores grades "
              "--positive-grade G");
  EXPECT_EQ(Convert("list.jsonl", "flag_embedding", "l.jsonl",
                    {"--scores", "grades", "--positive-grade", "0.5"})
                .exit_code,
            0);
  EXPECT_EQ(ReadFile(Path("l.jsonl")), R"({"query": "a", "pos": ["p"], "neg": []})"
                                       "\n");
}

TEST_F(ConvertCommand, APairWithoutALabelAmongLabelledOnesIsNamed) {
  Write("pairs.jsonl", R"({"query": "a", "answer": "p", "label": 1})"
                       "\n"
                       R"({"query": "a", "answer": "n", "label": null})"
                       "\n");
  ExpectError(Convert("pairs.jsonl", "tevatron", "out"), 3,
              "pairs.jsonl:2: has no score, where other documents of the file have a grade by "
              "theirs");
}

TEST_F(ConvertCommand, RulesOfLinesAreChecked) {
  ExpectError(Convert("scored.jsonl", "beir", "out", {"--labels", "up"}), 2,
              "--labels has \"up\"; expected LABEL=NUMBER for each, as up=1,down=0");
  ExpectError(Convert("data", "tevatron", "out", {"--ignore-columns", "a"}), 2,
              "--labels, --ignore-columns and --ids say what training lines mean, but " +
                  Path("data") + " is a folder");
  ExpectError(Convert("data", "tevatron", "out", {"--ids", "none"}), 2,
              "--ids is none; expected given or text");
}

TEST_F(ConvertCommand, TakesGradesAndNegatives) {
  const ProgramResult result =
      Convert("data", "sentence_transformers", "out",
              {"--split", "dev", "--positive-grade", "2", "--negatives", "0", "-q"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("graded above 0 but below the positives, left out: 1"));
  EXPECT_THAT(result.err, testing::Not(HasSubstr("wrote")));
  EXPECT_EQ(ReadFile(Path("out")), "{\"anchor\": \"b\", \"positive\": \"two\"}\n");
}

TEST_F(ConvertCommand, FlagsThatDoNothingAreRefused) {
  ExpectError(Convert("scored.jsonl", "tevatron", "out", {"--split", "dev"}), 2,
              "--split names a split of a BEIR folder");
  ExpectError(Convert("data", "tevatron", "out", {"--scores", "grades"}), 2,
              "--scores grades says what to do with scores, but " + Path("data") + " has none");
  ExpectError(Convert("scored.jsonl", "tevatron", "out", {"--positive-grade", "1"}), 2,
              "--positive-grade needs grades, but " + Path("scored.jsonl") +
                  " only tells positives from negatives; --scores grades takes its scores");
  ExpectError(Convert("data", "beir", "out", {"--positive-grade", "1"}), 2,
              "beir keeps all grades as they are");
  ExpectError(Convert("data", "tevatron", "out", {"--negatives", "1"}), 2,
              "only sentence_transformers takes it");
}

TEST_F(ConvertCommand, WrongInputIsRefused) {
  ExpectError(Convert("no", "tevatron", "out"), 3, "there is no such file or folder");
  ExpectError(Convert("data", "parquet", "out"), 2,
              "--to is parquet; expected beir, sentence_transformers, flag_embedding or tevatron");
  ExpectError(Convert("scored.jsonl", "beir", "out"), 2,
              "has scores, which a BEIR folder has no place for");
  ExpectError(Convert("data", "tevatron", "no/out"), 2, "there is no folder");
  Write("broken.jsonl", "{\"anchor\": \"a\", \"positive\": \"p\"}\n{\n");
  ExpectError(Convert("broken.jsonl", "tevatron", "out"), 3, "broken.jsonl:2: is not valid JSON");
}

TEST_F(ConvertCommand, WhatExistsIsKept) {
  const std::string before = ReadFile(Path("scored.jsonl"));
  const ProgramResult result = Convert("data", "flag_embedding", "scored.jsonl");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "error: " + Path("scored.jsonl") +
                            ": exists already; give another file, or remove it\n");
  EXPECT_EQ(ReadFile(Path("scored.jsonl")), before);
  // That shows before the data are read.
  EXPECT_THAT(Convert("no", "flag_embedding", "scored.jsonl").err, HasSubstr("exists already"));
}

}  // namespace
}  // namespace tandem
