// encode, search and evaluate --model on a small model, as a user runs them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/run_tandem.h"
#include "base/files.h"
#include "base/npy.h"
#include "base/temporary_folder.h"
#include "model/tiny_model.h"
#include "train/tiny_data.h"

namespace tandem {
namespace {

using testing::HasSubstr;

class ModelCommands : public testing::Test {
 protected:
  ModelCommands() {
    WriteTinyModel(folder_.path() / "model");
    WriteTinyData(folder_.path() / "data", TinyWords());
  }
  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }
  void Write(const std::string& name, const std::string& text) const {
    WriteFileAtomically(folder_.path() / name, text);
  }
  ProgramResult Encode(const std::string& input, const std::vector<std::string>& more = {},
                       const std::string& standard_input = "") const {
    std::vector<std::string> arguments = {"encode", "--model",  Path("model"),      "--input",
                                          input,    "--output", Path("embeddings"), "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunTandem(arguments, standard_input);
  }
  ProgramResult Search(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"search",    "--model",    Path("model"),
                                          "--dataset", Path("data"), "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunTandem(arguments);
  }
  ProgramResult Evaluate(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"evaluate",  "--model",    Path("model"),
                                          "--dataset", Path("data"), "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunTandem(arguments);
  }
  NpyMatrix Embeddings() const { return ReadNpy(Path("embeddings/embeddings.npy")); }

  TemporaryFolder folder_;
};

TEST_F(ModelCommands, EncodeWritesARowForEachTextInInputOrder) {
  const std::string lines =
      "{\"_id\": \"long\", \"text\": \"alpha beta gamma alpha beta gamma alpha\"}\n"
      "{\"_id\": \"short\", \"text\": \"beta\"}\n"
      "{\"_id\": \"titled\", \"title\": \"beta\", \"text\": \"alpha\"}\n";
  Write("texts.jsonl", lines);
  ASSERT_EQ(Encode(Path("texts.jsonl")).exit_code, 0);
  EXPECT_EQ(ReadFile(Path("embeddings/ids.txt")), "long\nshort\ntitled\n");
  const NpyMatrix all = Embeddings();
  ASSERT_EQ(all.rows, 3U);
  ASSERT_EQ(all.columns, 32U);
  // "short" gets the same embedding alone, from standard input; a title precedes its text.
  const ProgramResult alone = Encode("-", {}, "{\"_id\": \"x\", \"text\": \"beta\"}\n");
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  const NpyMatrix one = Embeddings();
  for (size_t c = 0; c < 32; ++c) EXPECT_NEAR(one.values[c], all.values[32 + c], 1e-6);
  ASSERT_EQ(Encode("-", {}, "{\"_id\": \"x\", \"text\": \"beta alpha\"}\n").exit_code, 0);
  const NpyMatrix titled = Embeddings();
  for (size_t c = 0; c < 32; ++c) EXPECT_NEAR(titled.values[c], all.values[64 + c], 1e-6);
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

TEST_F(ModelCommands, EncodeErrorsLeaveNothingHalfWritten) {
  const ProgramResult broken = Encode("-", {}, "{\"_id\": \"a\", \"text\": \"b\"}\n{\"_id\": \n");
  EXPECT_EQ(broken.exit_code, 3);
  EXPECT_THAT(broken.err, HasSubstr(":2: "));
  EXPECT_FALSE(std::filesystem::exists(Path("embeddings/embeddings.npy")));
  EXPECT_FALSE(std::filesystem::exists(Path("embeddings/ids.txt")));
  const ProgramResult twice =
      Encode("-", {}, "{\"_id\": \"a\", \"text\": \"b\"}\n{\"_id\": \"a\", \"text\": \"c\"}\n");
  EXPECT_EQ(twice.exit_code, 3);
  EXPECT_THAT(twice.err, HasSubstr(":2: has the same \"_id\" as line 1 (id a)"));
  const ProgramResult nothing = Encode("-", {}, "\n");
  EXPECT_EQ(nothing.exit_code, 3);
  EXPECT_THAT(nothing.err, HasSubstr("holds no document"));
  const ProgramResult missing = Encode(Path("none.jsonl"));
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_THAT(missing.err, HasSubstr("none.jsonl: cannot be read: No such file"));
  Write("file", "x");
  const ProgramResult below = RunTandem({"encode", "--model", Path("model"), "--input",
                                         Path("data/corpus.jsonl"), "--output", Path("file/x")});
  EXPECT_EQ(below.exit_code, 2);
  EXPECT_THAT(below.err, HasSubstr("file/x"));
}

TEST_F(ModelCommands, FoldersThatAreNoModel) {
  std::filesystem::create_directory(Path("empty"));
  const ProgramResult result = RunTandem({"encode", "--model", Path("empty"), "--input",
                                          Path("data/corpus.jsonl"), "--output", Path("out")});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, HasSubstr(Path("empty")));
  EXPECT_FALSE(std::filesystem::exists(Path("out")));
}

TEST_F(ModelCommands, EvaluateMeasuresTheAucOfAModelUnlessToldWhat) {
  const ProgramResult result = Evaluate({"--split", "dev", "--format", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto measures = nlohmann::json::parse(result.out)["measures"];
  EXPECT_EQ(measures.size(), 6U);
  EXPECT_GT(measures["auc"], 0);
  EXPECT_THAT(result.err, testing::Not(HasSubstr("--top-k")));  // the samples are complete
}

TEST_F(ModelCommands, ARunFolderForAModelNamesItsModel) {
  std::filesystem::create_directory(Path("run"));
  Write("run/recipe.resolved.toml", "");
  const auto error = [&] {
    const ProgramResult result = RunTandem(
        {"search", "--model", Path("run"), "--dataset", Path("data"), "--query", "alpha"});
    EXPECT_EQ(result.exit_code, 4);
    return result.err;
  };
  EXPECT_THAT(error(), HasSubstr("it is a training run that has not finished"));
  std::filesystem::create_directory(Path("run/model"));
  EXPECT_THAT(error(), HasSubstr("it is a training run, whose model is " + Path("run/model")));
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

TEST_F(ModelCommands, KeptEmbeddingsOfAnotherShapeAreAnError) {
  const std::vector<std::string> flags = {"--split", "dev", "--embeddings", Path("kept")};
  ASSERT_EQ(Evaluate(flags).exit_code, 0);
  NpyWriter writer(Path("kept/embeddings.npy"), 2);
  writer.Append(std::vector<float>{1, 2});
  writer.Commit();
  const ProgramResult result = Evaluate(flags);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("has 1 rows of 2 values where 60 documents of 32 belong"));
}

TEST_F(ModelCommands, DataThatCannotBeEvaluated) {
  const ProgramResult split = Evaluate({"--split", "test"});
  EXPECT_EQ(split.exit_code, 3);
  EXPECT_THAT(split.err, HasSubstr("test"));
  const ProgramResult level = Evaluate({"--split", "dev", "--relevance-level", "3"});
  EXPECT_EQ(level.exit_code, 3);
  EXPECT_THAT(level.err, HasSubstr("none of the 16 evaluated queries has a document of grade 3 or "
                                   "more, so that mrr@10 would be 0 whatever is found"));
  Write("data/corpus.jsonl", "{\"_id\": \"d0\", \"text\": \"alpha\"}\n");
  Write("data/queries.jsonl", "{\"_id\": \"q0\", \"text\": \"alpha\"}\n");
  Write("data/qrels/dev.tsv", "query-id\tcorpus-id\tscore\nq0\td0\t2\n");
  const ProgramResult one = Evaluate({"--split", "dev"});
  EXPECT_EQ(one.exit_code, 3);
  EXPECT_THAT(one.err, HasSubstr("the corpus has one document"));
}

}  // namespace
}  // namespace tandem
