// What writers leave out and refuse, and odd texts.
#include "base/random.h"
#include "data/formats/write_test.h"

namespace tandem::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class WriteLossesTest : public WriteDatasetTest {};

// --- What is left out ----------------------------------------------------------------------------

TEST_F(WriteLossesTest, CountsWhatLinesCannotHold) {
  beir_.Write("corpus.jsonl", R"({"_id": "d1", "text": "first"}
{"_id": "d2", "text": "second"}
{"_id": "d3", "text": "first"}
{"_id": "d4", "text": "nobody judged it"}
)");
  beir_.Write("queries.jsonl", R"({"_id": "q1", "text": "one"}
{"_id": "q2", "text": "two"}
{"_id": "q3", "text": "one"}
{"_id": "q4", "text": "nobody judged it"}
{"_id": "q5", "text": "five"}
)");
  beir_.Write("qrels/test.tsv",
              "q1\td1\t1\nq1\td2\t-1\nq2\td2\t0\nq3\td3\t1\nq3\td2\t-2\nq5\td1\t-1\n");
  EXPECT_EQ(Lines(ReadBeir(), "flag_embedding"),
            R"({"query": "one", "pos": ["first"], "neg": []}
{"query": "one", "pos": ["first"], "neg": []}
)");
  EXPECT_THAT(
      Warned(),
      ElementsAre("OUT: documents with a grade below 0 (not judged), left out: 3 (first at id q1)",
                  "OUT: judged queries without a positive, left out: 1 (first at id q2)",
                  "OUT: judged queries without a document to write, left out: 1 (first at id q5)",
                  "OUT: documents that no line holds, left out: 2",
                  "OUT: queries without judgement, left out: 1",
                  "OUT: queries with the text of another one, which they become without ids: 1",
                  "OUT: documents with the text of another one, which they become without ids: 1"));
}

TEST_F(WriteLossesTest, APositiveGradeSplitsGradesAndLeavesThoseBetweenOut) {
  beir_.Write("qrels/test.tsv", "q2\td1\t2\nq2\td2\t0\nq2\td3\t1\nq1\td3\t1\n");
  const Dataset dataset = ReadBeir();
  EXPECT_EQ(Lines(dataset, "sentence_transformers", {.positive_grade = 2}),
            "{\"anchor\": \"two\", \"positive\": \"Title first document\", \"negative\": \"second "
            "document\"}\n");
  EXPECT_THAT(
      Warned(),
      ElementsAre(
          "OUT: documents graded above 0 but below the positives, left out: 2 (first at id q2)",
          "OUT: judged queries without a document to write, left out: 1 (first at id q1)",
          "OUT: documents that no line holds, left out: 1",
          "OUT: documents with a title, written as the start of the text: 1"));
}

TEST_F(WriteLossesTest, PromptsStayInFlagEmbeddingAndAreNamedElsewhere) {
  const std::string lines = R"({"query": "a", "pos": ["p"], "neg": [], "prompt": "find: "})"
                            "\n";
  const Dataset dataset = Read("in.jsonl", lines);
  EXPECT_EQ(Lines(dataset, "flag_embedding"), lines);
  EXPECT_THAT(Warned(), IsEmpty());
  EXPECT_EQ(Lines(dataset, "sentence_transformers"), "{\"anchor\": \"a\", \"positive\": \"p\"}\n");
  EXPECT_THAT(Warned(),
              ElementsAre("OUT: query prompts that the format has no place for, left out (give "
                          "model.query_prompt = \"find: \" in the recipe): 1"));
}

TEST_F(WriteLossesTest, NothingLeftToWriteIsAnError) {
  beir_.Write("qrels/test.tsv", "q2\td1\t0\n");
  const auto error_of = [&](std::string_view format, const WriteOptions& options = {}) {
    return DataErrorOf([&] { Lines(ReadBeir(), format, options); });
  };
  EXPECT_THAT(error_of("flag_embedding"),
              HasSubstr("test.tsv: nothing is left to write: no judged query has a positive, which "
                        "every line needs"));
  beir_.Write("qrels/test.tsv", "q2\td1\t1\nq2\td2\t0\n");
  EXPECT_THAT(
      error_of("sentence_transformers", {.negatives = 2}),
      HasSubstr("no judged query has a positive and as many negatives as every line needs"));
  Dataset pruned = ReadBeir();
  pruned.judged.clear();
  EXPECT_THAT(DataErrorOf([&] { WriteDataset(pruned, "beir", Path("out"), {}, &warnings_); }),
              HasSubstr("nothing is left to write: nothing is judged"));
  EXPECT_THAT(Names(), IsEmpty());
}

// --- Odd texts -----------------------------------------------------------------------------------

TEST_F(WriteLossesTest, OddTextsComeBackAsTheyWere) {
  const std::string line =
      R"({"query": "\"q\"\\\n\u0000\u001f", "pos": ["\u2028a\u2029", "", "naïve 語 😀 € — "], "neg": ["\ttab\r\n"]})"
      "\n";
  const Dataset dataset = Read("in.jsonl", line);
  const std::string written = Lines(dataset, "flag_embedding");
  EXPECT_EQ(written, line);
  const Dataset again = Read("again.jsonl", written);
  EXPECT_EQ(again.queries.text(0), dataset.queries.text(0));
  EXPECT_EQ(JudgedTexts(again, 0), JudgedTexts(dataset, 0));
}

TEST_F(WriteLossesTest, ByteOrderMarksAndCarriageReturnsAreNotWritten) {
  const Dataset dataset =
      Read("in.jsonl", "\xEF\xBB\xBF{\"anchor\": \"a\", \"positive\": \"p\"}\r\n");
  EXPECT_EQ(Lines(dataset, "sentence_transformers"), "{\"anchor\": \"a\", \"positive\": \"p\"}\n");
}

TEST_F(WriteLossesTest, InvalidUtf8IsAnError) {
  Dataset dataset{.has_grades = true};
  dataset.queries.Add("q", "a");
  dataset.documents.Add("d", "\xC3(");
  dataset.judged.push_back({0, {{.document = 0, .grade = 1}}});
  for (const DatasetWriter* writer : DatasetWriters()) {
    EXPECT_EQ(
        DataErrorOf([&] { WriteDataset(dataset, writer->format, Path("out"), {}, &warnings_); }),
        "text: is not valid UTF-8, which JSON needs (id d)");
  }
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(WriteLossesTest, IdsThatJudgementsCannotHoldAreErrors) {
  const std::string line =
      R"({{"query_id": "q", "query": "a", "positive_passages": [{{"docid": "{}", "text": "p"}}]}})";
  for (const char* id : {" d", "d "}) {
    const Dataset dataset = Read("in.jsonl", fmt::format(fmt::runtime(line), id));
    EXPECT_THAT(DataErrorOf([&] { WriteDataset(dataset, "beir", Path("out"), {}, &warnings_); }),
                HasSubstr("begins or ends with a blank, which BEIR's judgements cannot hold"));
  }
  EXPECT_THAT(Names(), ElementsAre("in.jsonl"));
}

// --- Calls that are wrong ------------------------------------------------------------------------

TEST_F(WriteLossesTest, ScoresDoNotFitABeirFolder) {
  const Dataset dataset = Read("in.jsonl", R"({"query": "a", "pos": ["p"], "pos_scores": [2]})");
  EXPECT_THAT(UsageErrorOf(dataset, "beir", Path("out")),
              HasSubstr("in.jsonl: has scores, which a BEIR folder has no place for: take them as "
                        "grades or leave them out"));
  EXPECT_THAT(Names(), ElementsAre("in.jsonl"));
}

TEST_F(WriteLossesTest, ColumnsNeedNegativesEverywhereOrNowhere) {
  const Dataset dataset = Read("in.jsonl", R"({"query": "a", "pos": ["p"], "neg": ["x"]}
{"query": "b", "pos": ["q"]})");
  EXPECT_THAT(UsageErrorOf(dataset, "sentence_transformers", Path("out")),
              HasSubstr("in.jsonl: 1 of 2 queries have no negative, but all lines of "
                        "sentence_transformers have the same columns: tandem convert "
                        "with --negatives 0 writes pairs"));
  EXPECT_THAT(Names(), ElementsAre("in.jsonl"));
  EXPECT_THROW(CheckFormatHolds(dataset, "sentence_transformers"), UsageError);
  EXPECT_NO_THROW(CheckFormatHolds(dataset, "sentence_transformers", {.negatives = 1}));
  EXPECT_NO_THROW(CheckFormatHolds(dataset, "flag_embedding"));
}

TEST_F(WriteLossesTest, WrongCallsAreNamed) {
  const Dataset dataset = ReadBeir();
  EXPECT_EQ(UsageErrorOf(dataset, "parquet", Path("out")),
            "data format parquet is unknown; data sets are written as beir, sentence_transformers, "
            "flag_embedding, tevatron");
  EXPECT_THAT(UsageErrorOf(dataset, "beir", Path("out"), {.split = "../x"}),
              HasSubstr("split \"../x\" is no name of a file"));
  EXPECT_THAT(UsageErrorOf(dataset, "beir", Path("out"), {.positive_grade = 1}),
              HasSubstr("beir keeps all grades as they are"));
  EXPECT_THAT(UsageErrorOf(dataset, "tevatron", Path("out"), {.negatives = 1}),
              HasSubstr("only sentence_transformers takes it"));
  EXPECT_THAT(UsageErrorOf(dataset, "tevatron", Path("out"), {.positive_grade = 0}),
              HasSubstr("lowest grade of positives is 0; expected a number above 0"));
  EXPECT_THAT(UsageErrorOf(dataset, "tevatron", "-"), HasSubstr("\"-\" is no file"));
  EXPECT_THAT(UsageErrorOf(dataset, "beir", ""), HasSubstr("\"\" is no folder"));
  for (const char* name : {"x.csv", "x.tsv", "x.csv.gz"}) {
    EXPECT_THAT(UsageErrorOf(dataset, "sentence_transformers", Path(name)),
                HasSubstr("give a name that ends in .jsonl or .jsonl.gz"));
  }
  EXPECT_THAT(UsageErrorOf(dataset, "tevatron", Path("x.parquet")),
              HasSubstr("give a name that ends in .jsonl or .jsonl.gz"));
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(WriteLossesTest, WhatExistsIsKept) {
  const Dataset dataset = ReadBeir();
  WriteFileAtomically(Path("out"), "mine");
  std::filesystem::create_symlink("nowhere", Path("link"));
  for (const DatasetWriter* writer : DatasetWriters()) {
    for (const char* name : {"out", "link"}) {
      EXPECT_THAT(UsageErrorOf(dataset, writer->format, Path(name)),
                  HasSubstr(Path(name).native() + ": exists already"));
    }
  }
  EXPECT_EQ(ReadFile(Path("out")), "mine");
  EXPECT_THAT(Names(), ElementsAre("link", "out"));
}

// --- Files ---------------------------------------------------------------------------------------

TEST_F(WriteLossesTest, GzipHoldsTheSameLines) {
  const Dataset dataset = ReadBeir();
  const std::string plain = Lines(dataset, "tevatron");
  WriteDataset(dataset, "tevatron", Path("a.jsonl.gz"), {}, &warnings_);
  WriteDataset(dataset, "tevatron", Path("b.jsonl.gz"), {}, &warnings_);
  const std::string packed = ReadFile(Path("a.jsonl.gz"));
  EXPECT_EQ(packed.substr(0, 2), "\x1F\x8B");
  EXPECT_EQ(packed, ReadFile(Path("b.jsonl.gz")));
  LineReader reader(Path("a.jsonl.gz"), warnings_);
  std::string unpacked;
  std::string_view line;
  while (reader.Next(&line)) unpacked.append(line).append("\n");
  EXPECT_EQ(unpacked, plain);
}

// More than any buffer on the way holds, and hardly compressible.
TEST_F(WriteLossesTest, LargeFilesAreWhole) {
  Dataset dataset{.has_grades = true};
  RandomStream stream({1, "large files"});
  for (uint32_t i = 0; i < 3000; ++i) {
    std::string text;
    while (text.size() < 1000) text += fmt::format("{:x}", stream.Below(uint64_t{1} << 60));
    dataset.queries.Add(fmt::format("q{}", i), fmt::format("query {}", i));
    dataset.documents.Add(fmt::format("d{}", i), text);
    dataset.judged.push_back({i, {{.document = i, .grade = 1}}});
  }
  WriteDataset(dataset, "tevatron", Path("out.jsonl.gz"), {}, &warnings_);
  EXPECT_EQ(WriteDataset(dataset, "beir", Path("out"), {}, &warnings_).judgements, 3000U);
  const Dataset lines = ReadDataset(Path("out.jsonl.gz"), "auto", "train", &warnings_);
  const Dataset folder = ReadDataset(Path("out"), "auto", "train", &warnings_);
  ASSERT_EQ(lines.documents.size(), 3000U);
  ASSERT_EQ(folder.documents.size(), 3000U);
  for (uint32_t i = 0; i < 3000; ++i) {
    ASSERT_EQ(lines.documents.text(i), dataset.documents.text(i));
    ASSERT_EQ(folder.documents.text(i), dataset.documents.text(i));
  }
}

TEST_F(WriteLossesTest, AFolderThatCannotBeMadeOrIsNotThereIsAnError) {
  WriteFileAtomically(Path("file"), "");
  EXPECT_THROW(WriteDataset(ReadBeir(), "beir", Path("file") / "out", {}, &warnings_), OutputError);
  EXPECT_THROW(CheckWriteRequest("tevatron", Path("no/out.jsonl")), UsageError);
}

}  // namespace
}  // namespace tandem::data
