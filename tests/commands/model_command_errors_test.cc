// What encode, search and evaluate --model refuse, and what they then leave behind.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "commands/model_commands_fixture.h"

namespace tandem {
namespace {

using testing::HasSubstr;

using ModelCommandErrors = ModelCommandsTest;

TEST_F(ModelCommandErrors, EncodeErrorsLeaveNothingHalfWritten) {
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

TEST_F(ModelCommandErrors, TrainingTakesNoInt8) {
  const auto train = [&](const std::string& first_line, const std::vector<std::string>& more) {
    Write("recipe.toml", fmt::format("{}output = \"{}\"\n[model]\nbase = \"{}\"\n[data]\ntrain = "
                                     "\"{}\"\n[objective]\nname = \"infonce\"\n",
                                     first_line, Path("run"), Path("model"), Path("data")));
    std::vector<std::string> arguments = {"train", Path("recipe.toml")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult result = RunTandem(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_FALSE(std::filesystem::exists(Path("run")));
    return result.err;
  };
  EXPECT_THAT(train("", {"--precision", "int8"}),
              HasSubstr("precision int8 is for encoding only, because gradients need more than "
                        "eight bits; train with auto, fp32 or bf16"));
  EXPECT_THAT(train("precision = \"int8\"\n", {}), HasSubstr("recipe.toml:1:"));
}

TEST_F(ModelCommandErrors, FoldersThatAreNoModel) {
  std::filesystem::create_directory(Path("empty"));
  const ProgramResult result = RunTandem({"encode", "--model", Path("empty"), "--input",
                                          Path("data/corpus.jsonl"), "--output", Path("out")});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, HasSubstr(Path("empty")));
  EXPECT_FALSE(std::filesystem::exists(Path("out")));
}

TEST_F(ModelCommandErrors, ARunFolderForAModelNamesItsModel) {
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

TEST_F(ModelCommandErrors, ACheckpointForAModelNamesTheModelOfItsRun) {
  for (const char* file : {"state.json", "weights.safetensors"}) {
    std::filesystem::create_directories(Path("run/checkpoints/best-00000004"));
    Write(std::string("run/checkpoints/best-00000004/") + file, "{}");
  }
  for (const char* folder : {"run/checkpoints/best-00000004", "run/checkpoints/best-00000004/"}) {
    std::filesystem::remove(Path("run/model"));
    const auto error = [&] {
      const ProgramResult result = RunTandem({"encode", "--model", Path(folder), "--input",
                                              Path("data/corpus.jsonl"), "--output", Path("out")});
      EXPECT_EQ(result.exit_code, 4);
      return result.err;
    };
    EXPECT_THAT(error(), HasSubstr("it is a checkpoint of a training run that has not finished"));
    std::filesystem::create_directory(Path("run/model"));
    EXPECT_THAT(error(), HasSubstr("it is a checkpoint of a training run, whose model is " +
                                   Path("run/model") + "\n"));
  }
}

TEST_F(ModelCommandErrors, KeptEmbeddingsOfAnotherShapeAreAnError) {
  const std::vector<std::string> flags = {"--split", "dev", "--embeddings", Path("kept")};
  ASSERT_EQ(Evaluate(flags).exit_code, 0);
  embeddings::WriteNpy(Path("kept/embeddings.npy"), 2, std::vector<float>{1, 2});
  const ProgramResult result = Evaluate(flags);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(
      result.err,
      HasSubstr("has 1 rows of 2 values; expected 60 rows, one for each document, of 32 values"));
}

TEST_F(ModelCommandErrors, DataThatCannotBeEvaluated) {
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

// Nobody waits for an encoded corpus to hear that there is no place for what was made of it.
TEST_F(ModelCommandErrors, WhatCannotBeWrittenShowsBeforeTheWork) {
  std::filesystem::create_directories(Path("run.trec"));  // a folder where a file is to be
  std::filesystem::create_directories(Path("embeddings/ids.txt"));
  std::filesystem::create_directories(Path("kept/embeddings.npy"));
  Write("file", "x");
  // The model's folder does not exist: whoever comes so far as to load it ends with 4.
  const auto search = [&](const std::string& output) {
    return RunTandem({"search", "--model", Path("no model"), "--dataset", Path("data"), "--split",
                      "dev", "--output", output});
  };
  for (const std::string& output :
       {Path("run.trec"), Path("none/run.trec"), Path("file/run.trec")}) {
    const ProgramResult result = search(output);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(output));
  }
  EXPECT_EQ(search(Path("fine.trec")).exit_code, 4);
  const ProgramResult ids = RunTandem({"encode", "--model", Path("model"), "--input",
                                       Path("data/corpus.jsonl"), "--output", Path("embeddings")});
  EXPECT_EQ(ids.exit_code, 2);
  EXPECT_EQ(ids.err, fmt::format("error: {}/ids.txt: cannot be written as a file: Is a directory\n",
                                 Path("embeddings")));
  const ProgramResult kept =
      RunTandem({"evaluate", "--model", Path("model"), "--dataset", Path("data"), "--split", "dev",
                 "--embeddings", Path("kept")});
  EXPECT_EQ(kept.exit_code, 2);
  EXPECT_THAT(kept.err, testing::Not(HasSubstr("encode documents")));
  // An id that no run can hold.
  Write("data/corpus.jsonl",
        ReadFile(Path("data/corpus.jsonl")) + "{\"_id\": \"d 61\", \"text\": \"alpha\"}\n");
  const ProgramResult blank =
      RunTandem({"search", "--model", Path("model"), "--dataset", Path("data"), "--split", "dev",
                 "--output", Path("fine.trec")});
  EXPECT_EQ(blank.exit_code, 3);
  EXPECT_THAT(blank.err, HasSubstr("(id d 61)"));
  EXPECT_THAT(blank.err, testing::Not(HasSubstr("encode")));
  EXPECT_FALSE(std::filesystem::exists(Path("fine.trec")));
}

TEST_F(ModelCommandErrors, ErrorsComeWithoutAnEmptyCount) {
  const ProgramResult broken =
      RunTandem({"encode", "--model", Path("model"), "--input", "-", "--output", Path("out")},
                "{\"_id\": \n");
  EXPECT_EQ(broken.exit_code, 3);
  EXPECT_THAT(broken.err, testing::StartsWith("error: "));
}

// Standard output is no place where embeddings are kept.
TEST_F(ModelCommandErrors, StandardOutputIsNoFolder) {
  for (const ProgramResult& kept : {Search({"--query", "alpha", "--embeddings", "-"}),
                                    Evaluate({"--split", "dev", "--embeddings", "-"})}) {
    EXPECT_EQ(kept.exit_code, 2);
    EXPECT_THAT(kept.err, HasSubstr("--embeddings - is no folder; "));
    EXPECT_FALSE(std::filesystem::exists("-"));
  }
}

}  // namespace
}  // namespace tandem
