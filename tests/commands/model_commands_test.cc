// encode, search and evaluate --model on a small model, as a user runs them.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "commands/model_commands_fixture.h"

namespace tandem {
namespace {

using testing::HasSubstr;

using ModelCommands = ModelCommandsTest;

TEST_F(ModelCommands, EncodeWritesARowForEachTextInInputOrder) {
  const std::string lines =
      "{\"_id\": \"long\", \"text\": \"alpha beta gamma alpha beta gamma alpha\"}\n"
      "{\"_id\": \"short\", \"text\": \"beta\"}\n"
      "{\"_id\": \"titled\", \"title\": \"beta\", \"text\": \"alpha\"}\n";
  Write("texts.jsonl", lines);
  ASSERT_EQ(Encode(Path("texts.jsonl")).exit_code, 0);
  EXPECT_EQ(ReadFile(Path("embeddings/ids.txt")), "long\nshort\ntitled\n");
  const embeddings::MappedRows all = Embeddings();
  ASSERT_EQ(all.rows, 3U);
  ASSERT_EQ(all.columns, 32U);
  // "short" gets the same embedding alone, from standard input; a title precedes its text.
  const ProgramResult alone = Encode("-", {}, "{\"_id\": \"x\", \"text\": \"beta\"}\n");
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  const embeddings::MappedRows one = Embeddings();
  for (size_t c = 0; c < 32; ++c) EXPECT_NEAR(one.values[c], all.values[32 + c], 1e-6);
  ASSERT_EQ(Encode("-", {}, "{\"_id\": \"x\", \"text\": \"beta alpha\"}\n").exit_code, 0);
  const embeddings::MappedRows titled = Embeddings();
  for (size_t c = 0; c < 32; ++c) EXPECT_NEAR(titled.values[c], all.values[64 + c], 1e-6);
}

TEST_F(ModelCommands, EncodeRoundsToEightBitsWhereAskedTo) {
  const std::string line = "{\"_id\": \"a\", \"text\": \"alpha beta gamma\"}\n";
  ASSERT_EQ(Encode("-", {}, line).exit_code, 0);
  const embeddings::MappedRows fp32 = Embeddings();
  const ProgramResult result = Encode("-", {"--precision", "int8"}, line);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const embeddings::MappedRows int8 = Embeddings();
  EXPECT_FALSE(std::ranges::equal(int8.values, fp32.values));
  for (size_t c = 0; c < 32; ++c) EXPECT_NEAR(int8.values[c], fp32.values[c], 0.05) << c;
}

TEST_F(ModelCommands, EncodeCountsEmptyAndTruncatedTexts) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "alpha ";
  const ProgramResult result = Encode(
      "-", {}, "{\"_id\": \"a\", \"text\": \"\"}\n{\"_id\": \"b\", \"text\": \"" + text + "\"}\n");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err,
            "warning: 1 of 2 documents are longer than 64 tokens and were cut there\n"
            "warning: 1 of 2 documents are empty and were encoded as their special tokens\n");
  EXPECT_EQ(Embeddings().rows, 2U);
}

// What a model was trained at rules every command, and a flag rules that.
TEST_F(ModelCommands, LengthsOfTandemJsonRule) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "alpha ";
  const std::string line = "{\"_id\": \"a\", \"text\": \"" + text + "\"}\n";
  EXPECT_EQ(Encode("-", {}, line).err, "");
  Write("model/tandem.json", R"({"format": 1, "max_query_tokens": 8, "max_document_tokens": 24})");
  EXPECT_THAT(Encode("-", {}, line).err, HasSubstr("1 of 1 documents are longer than 24 tokens"));
  EXPECT_THAT(Encode("-", {"--kind", "query"}, line).err,
              HasSubstr("1 of 1 queries are longer than 8 tokens"));
  EXPECT_EQ(Encode("-", {"--max-document-tokens", "64"}, line).err, "");
  const auto measured = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"--split", "dev",      "--measures",
                                          "ndcg@10", "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Evaluate(arguments).out;
  };
  Write("model/tandem.json", R"({"format": 1, "max_query_tokens": 4, "max_document_tokens": 4})");
  const std::string cut = measured({});
  EXPECT_NE(cut, measured({"--max-query-tokens", "64", "--max-document-tokens", "64"}));
  std::filesystem::remove(Path("model/tandem.json"));
  EXPECT_EQ(cut, measured({"--max-query-tokens", "4", "--max-document-tokens", "4"}));
}

TEST_F(ModelCommands, EvaluateMeasuresTheAucOfAModelUnlessToldWhat) {
  const ProgramResult result = Evaluate({"--split", "dev", "--format", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto measures = nlohmann::json::parse(result.out)["measures"];
  EXPECT_EQ(measures.size(), 6U);
  EXPECT_GT(measures["auc"], 0);
  EXPECT_THAT(result.err, testing::Not(HasSubstr("--top-k")));  // the samples are complete
}

TEST_F(ModelCommands, ViewsStandBehindTheMeasures) {
  const ProgramResult plain =
      Evaluate({"--split", "dev", "--measures", "ndcg@10", "--format", "json"});
  const std::vector<std::string> flags = {"--split", "dev",      "--measures", "ndcg@10",
                                          "--views", "--format", "json"};
  const ProgramResult result = Evaluate(flags);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto found = nlohmann::json::parse(result.out);
  EXPECT_EQ(found["measures"], nlohmann::json::parse(plain.out)["measures"]);
  const auto& views = found["views"];
  EXPECT_EQ(views["queries"], 16);
  EXPECT_EQ(views["pairs"], 16);
  EXPECT_GT(views["nearest_cosine_median"], 0);
  EXPECT_LE(views["nearest_cosine_median"], 1);
  EXPECT_GE(views["separability"], 0);
  EXPECT_LE(views["separability"], 1);
  EXPECT_LT(views["uniformity_queries"], 0);
  ASSERT_EQ(views["points"].size(), 32U);
  EXPECT_EQ(views["points"][0]["query"], "q48");
  EXPECT_EQ(views["points"][16]["tower"], "positive");
  // The model compares by cosine: the median is that of the best scores.
  ASSERT_EQ(Search({"--split", "dev", "--top-k", "1", "--output", Path("best.trec")}).exit_code, 0);
  std::istringstream lines(ReadFile(Path("best.trec")));
  std::vector<double> scores;
  for (std::string query, q0, document, rank, score, tag;
       lines >> query >> q0 >> document >> rank >> score >> tag;) {
    scores.push_back(std::stod(score));
  }
  std::sort(scores.begin(), scores.end());
  ASSERT_EQ(scores.size(), 16U);
  EXPECT_NEAR(views["nearest_cosine_median"], (scores[7] + scores[8]) / 2, 1e-5);
  EXPECT_EQ(Evaluate(flags).out, result.out);
  EXPECT_EQ(plain.out.find("views"), std::string::npos);
}

TEST_F(ModelCommands, SearchWritesATrecRunThatEvaluateReads) {
  ASSERT_EQ(Search({"--split", "dev", "--top-k", "60", "--output", Path("run.trec")}).exit_code, 0);
  const ProgramResult from_run =
      RunTandem({"evaluate", "--qrels", Path("data/qrels/dev.tsv"), "--run", Path("run.trec"),
                 "--measures", "ndcg@10,map", "--format", "json", "--quiet"});
  const ProgramResult from_model =
      Evaluate({"--split", "dev", "--measures", "ndcg@10,map", "--format", "json"});
  ASSERT_EQ(from_run.exit_code, 0) << from_run.err;
  EXPECT_EQ(from_run.out, from_model.out);
  const double value = nlohmann::json::parse(from_run.out)["measures"]["ndcg@10"];
  EXPECT_GT(value, 0);
  EXPECT_LT(value, 1);
}

TEST_F(ModelCommands, FreeTextQueriesAsJson) {
  const ProgramResult result =
      Search({"--query", "alpha beta", "--query", "music", "--top-k", "2", "--format", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto found = nlohmann::json::parse(result.out);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0]["query"], "alpha beta");
  ASSERT_EQ(found[1]["hits"].size(), 2U);
  EXPECT_GE(found[1]["hits"][0]["score"], found[1]["hits"][1]["score"]);
  EXPECT_TRUE(found[1]["hits"][0]["text"].is_string());
  EXPECT_TRUE(found[1]["hits"][0]["document"].is_string());
}

TEST_F(ModelCommands, KeptEmbeddingsAreUsedAgain) {
  const std::vector<std::string> flags = {"--split",    "dev",      "--embeddings",
                                          Path("kept"), "--format", "json"};
  const ProgramResult first = Evaluate(flags);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const auto written = std::filesystem::last_write_time(Path("kept/embeddings.npy"));
  EXPECT_EQ(Evaluate(flags).out, first.out);
  EXPECT_EQ(std::filesystem::last_write_time(Path("kept/embeddings.npy")), written);
  // Another pooling changes the embeddings and no parameter, so kept embeddings must not serve.
  WriteTinyModel(Path("model"), {.pooling = "cls"});
  const ProgramResult other = Evaluate(flags);
  std::filesystem::remove_all(Path("kept"));
  EXPECT_EQ(Evaluate(flags).out, other.out);
  EXPECT_NE(other.out, first.out);
}

TEST_F(ModelCommands, KeptEmbeddingsDoNotReplaceEncodedOnes) {
  ASSERT_EQ(Encode(Path("data/corpus.jsonl")).exit_code, 0);
  const std::string bytes = ReadFile(Path("embeddings/embeddings.npy"));
  const ProgramResult result = Evaluate({"--split", "dev", "--embeddings", Path("embeddings")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("holds embeddings that were not kept by a search"));
  EXPECT_EQ(ReadFile(Path("embeddings/embeddings.npy")), bytes);
}

TEST_F(ModelCommands, EncodeOverKeptEmbeddingsTakesTheirMarkAway) {
  const std::vector<std::string> flags = {"--split", "dev", "--embeddings", Path("embeddings")};
  ASSERT_EQ(Evaluate(flags).exit_code, 0);
  ASSERT_EQ(Encode("-", {}, "{\"_id\": \"x\", \"text\": \"beta\"}\n").exit_code, 0);
  EXPECT_EQ(Evaluate(flags).exit_code, 2);
}

// A judged query whose documents are missing, and one without a text, count as in trec_eval -c:
// with 0, and not at all by being left out.
TEST_F(ModelCommands, JudgedQueriesCountWhateverIsMissing) {
  const std::string judged = "query-id\tcorpus-id\tscore\nq48\td48\t1\n";
  const auto values = [&](const std::string& qrels, const std::vector<std::string>& more = {}) {
    Write("data/qrels/some.tsv", qrels);
    std::vector<std::string> flags = {"--split",  "some", "--measures", "ndcg@10,auc,recall@100",
                                      "--format", "json"};
    flags.insert(flags.end(), more.begin(), more.end());
    const ProgramResult result = Evaluate(flags);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return nlohmann::json::parse(result.out)["measures"];
  };
  const auto whole = values(judged);
  ASSERT_GT(whole["ndcg@10"], 0);
  const std::string lacking = judged + "q49\tgone\t1\nnobody\td1\t1\n";
  const auto with_missing = values(lacking);
  EXPECT_DOUBLE_EQ(with_missing["ndcg@10"], whole["ndcg@10"].get<double>() / 3);
  EXPECT_DOUBLE_EQ(with_missing["recall@100"], whole["recall@100"].get<double>() / 3);
  EXPECT_EQ(values(lacking, {"--complete"}), with_missing);
  // A document that is judged beside the one that is found is one that is not found.
  EXPECT_DOUBLE_EQ(values(judged + "q48\tgone\t1\n")["recall@100"], 0.5);
  // The same from a run of the same queries.
  Write("data/qrels/some.tsv", lacking);
  ASSERT_EQ(Search({"--split", "some", "--top-k", "600", "--output", Path("run.trec")}).exit_code,
            0);
  const ProgramResult from_run = RunTandem(
      {"evaluate", "--qrels", Path("data/qrels/some.tsv"), "--run", Path("run.trec"), "--measures",
       "ndcg@10,auc,recall@100", "--format", "json", "--complete", "--quiet"});
  EXPECT_EQ(nlohmann::json::parse(from_run.out)["measures"], with_missing);
  const ProgramResult told = Evaluate({"--split", "some"});
  EXPECT_THAT(told.err, HasSubstr("judged queries without a text in queries.jsonl, not searched: 1 "
                                  "(first at id nobody)"));
  EXPECT_THAT(told.err,
              HasSubstr("judgements of documents that corpus.jsonl lacks, never found: 1"));
  Write("data/qrels/some.tsv", "query-id\tcorpus-id\tscore\nq49\tgone\t1\n");
  const ProgramResult strangers = Evaluate({"--split", "some"});
  EXPECT_EQ(strangers.exit_code, 3);
  EXPECT_THAT(strangers.err, HasSubstr("none of the judgements names a query and a document"));
  Write("data/corpus.jsonl",
        ReadFile(Path("data/corpus.jsonl")) + "{\"_id\": \"gone#1\", \"text\": \"a passage\"}\n");
  EXPECT_THAT(
      Evaluate({"--split", "some"}).err,
      HasSubstr(
          "the judgements name documents (gone) and the corpus has their passages "
          "(gone#1); evaluate, compare, report and search rank documents with --by-document"));
}

// recall@5000 of a corpus of 1200 is 1 only where all results are looked at.
TEST_F(ModelCommands, MaxResultsAboveAThousandAndAll) {
  WriteTinyData(Path("data"), TinyWords(), {.documents = 1200});
  std::string qrels = "query-id\tcorpus-id\tscore\n";
  for (int d = 0; d < 1200; ++d) qrels += fmt::format("q48\td{}\t1\n", d);
  Write("data/qrels/all.tsv", qrels);
  const auto map = [&](const std::vector<std::string>& more) {
    std::vector<std::string> flags = {"--split", "all", "--measures", "map", "--format", "json"};
    flags.insert(flags.end(), more.begin(), more.end());
    return nlohmann::json::parse(Evaluate(flags).out)["measures"]["map"].get<double>();
  };
  EXPECT_NEAR(map({}), 1000.0 / 1200, 1e-12);
  EXPECT_NEAR(map({"--max-results", "1100"}), 1100.0 / 1200, 1e-12);
  EXPECT_NEAR(map({"--max-results", "10"}), 10.0 / 1200, 1e-12);
  EXPECT_NEAR(map({"--max-results", "0"}), 1, 1e-12);
}

TEST_F(ModelCommands, SearchRanksQueriesThatNobodyJudged) {
  std::filesystem::remove_all(Path("data/qrels"));
  Write("mine.jsonl",
        "{\"_id\": \"m1\", \"text\": \"alpha beta\"}\n"
        "{\"_id\": \"m2\", \"text\": \"music\"}\n");
  const ProgramResult result =
      Search({"--queries", Path("mine.jsonl"), "--top-k", "3", "--output", Path("run.trec")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::map<std::string, int> lines;
  std::istringstream run(ReadFile(Path("run.trec")));
  for (std::string line; std::getline(run, line);) ++lines[line.substr(0, line.find(' '))];
  EXPECT_EQ(lines, (std::map<std::string, int>{{"m1", 3}, {"m2", 3}}));
  const ProgramResult printed =
      Search({"--queries", Path("mine.jsonl"), "--top-k", "3", "--output", "-"});
  EXPECT_EQ(printed.out, ReadFile(Path("run.trec")));
  EXPECT_FALSE(std::filesystem::exists("-"));
  EXPECT_EQ(Search({"--queries", Path("mine.jsonl"), "--split", "dev", "--output", "x"}).exit_code,
            2);
}

}  // namespace
}  // namespace tandem
