#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "app/run_tandem.h"
#include "base/npy.h"
#include "base/temporary_folder.h"
#include "base/test_data.h"
#include "weights/small_model_folder.h"

namespace tandem {
namespace {

using testing::HasSubstr;

class InspectCommand : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }
  void Write(const std::string& name, const std::string& text) const {
    weights::WriteText(Path(name), text);
  }
  ProgramResult Inspect(const std::string& name, const std::string& format = "text") const {
    return RunTandem({"inspect", Path(name), "--format", format});
  }
  void ExpectError(const std::string& name, int exit_code, const std::string& message) const {
    const ProgramResult result = Inspect(name);
    EXPECT_EQ(result.exit_code, exit_code);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, "error: " + Path(name) + message + "\n");
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(InspectCommand, ModelAsText) {
  weights::WriteSmallModel(Path("model"));
  const ProgramResult result = Inspect("model");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(
      result.out,
      "kind                model\n"
      "architecture        bert\n"
      "encoder             layers 2, hidden size 8, heads 2, intermediate size 16, activation "
      "gelu, vocabulary size 32, max positions 24, hidden dropout 0.1, attention dropout 0.2\n"
      "modules\n"
      "  Transformer bert\n"
      "  Pooling     mean\n"
      "  Normalize\n"
      "embedding width     8\n"
      "parameters          1680\n"
      "encoder tensors     F32 37\n"
      "max tokens          16\n"
      "max tokens from     sentence_bert_config.json\n"
      "similarity          cosine\n"
      "query prompt        none\n"
      "document prompt     none\n"
      "prompts             none\n"
      "default prompt name none\n"
      "carried tensors\n"
      "  embeddings.position_ids I64 [1,24] 192\n"
      "  pooler.dense.bias       F32 [8]    32\n"
      "  pooler.dense.weight     F32 [8,8]  256\n");
}

TEST_F(InspectCommand, ModelAsJson) {
  const auto model = ModelDir();
  if (!model) GTEST_SKIP() << kNoModelDir;
  const ProgramResult result = RunTandem({"inspect", model->native(), "--format", "json"});
  EXPECT_EQ(result.exit_code, 0);
  const auto found = nlohmann::json::parse(result.out);
  EXPECT_EQ(found["kind"], "model");
  EXPECT_EQ(found["parameters"], 22'565'376);
  EXPECT_EQ(found["max_tokens"], 256);
  EXPECT_EQ(found["encoder"]["layers"], 6);
  EXPECT_EQ(found["carried_tensors"][0]["name"], "embeddings.position_ids");
}

TEST_F(InspectCommand, PlainFolderSaysThatItsPoolingIsAssumed) {
  weights::WriteSmallModel(Path("model"));
  std::filesystem::remove(Path("model/modules.json"));
  const ProgramResult result = Inspect("model");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, Path("model") + ": no modules.json; read as encoder with mean pooling\n");
}

TEST_F(InspectCommand, Safetensors) {
  const std::string bytes("0123");
  const std::vector<weights::TensorToWrite> tensors = {
      {.name = "a\x1b[2J", .dtype = weights::Dtype::kF32, .shape = {1}, .bytes = bytes},
      {.name = "b", .dtype = weights::Dtype::kU8, .shape = {2, 2}, .bytes = bytes}};
  weights::WriteSafetensors(Path("w.safetensors"), tensors);
  EXPECT_EQ(Inspect("w.safetensors").out,
            "kind                safetensors\n"
            "metadata            format pt\n"
            "elements            5\n"
            "tensors\n"
            "  a?[2J F32 [1]   4\n"  // the escape does not reach the terminal
            "  b     U8  [2,2] 4\n");
  const auto found = nlohmann::json::parse(Inspect("w.safetensors", "json").out);
  EXPECT_EQ(found["tensors"][1],
            nlohmann::json::parse(R"({"name": "b", "dtype": "U8", "shape": [2, 2], "bytes": 4})"));
}

TEST_F(InspectCommand, DataFiles) {
  NpyWriter npy(Path("e.npy"), 2);
  npy.Append(std::vector<float>{1, 2, 3, 4, 5, 6});
  npy.Commit();
  EXPECT_EQ(Inspect("e.npy").out,
            "kind                npy\nrows                3\ncolumns             2\n");
  Write("c.jsonl", "{\"_id\": \"1\", \"title\": \"ab\", \"text\": \"cde\"}\n");
  EXPECT_EQ(Inspect("c.jsonl").out,
            "kind                texts\ntexts               1\nbytes of text       6\n");
  Write("r.trec", "q Q0 d 1 0.5 t\nq Q0 e 2 0.4 t\n");
  EXPECT_EQ(Inspect("r.trec").out,
            "kind                run\nqueries             1\nresults             2\n");
  Write("j.qrels", "q 0 d 1\nq 0 e 0\np 0 d 1\n");
  EXPECT_EQ(Inspect("j.qrels").out,
            "kind                judgements\nqueries             2\njudgements          3\n"
            "grades\n  0.0 1\n  1.0 2\n");
}

TEST_F(InspectCommand, WhatIsNoModelIsExitFour) {
  ExpectError("none", 4, ": no such folder; a model folder was expected");
  ExpectError("none.safetensors", 4, ": cannot be read: No such file or directory");
  std::filesystem::create_directory(Path("empty"));
  ExpectError("empty", 4, ": is no model folder: neither modules.json nor config.json is there");
  Write("w.safetensors", std::string("\xff\0\0\0\0\0\0\0{}", 10));
  ExpectError("w.safetensors", 4,
              ": the header claims 255 bytes, but the file has only 2 behind its length; it is cut "
              "short or no safetensors file");
}

TEST_F(InspectCommand, UnsupportedArchitectureNamesTheSupportedOnes) {
  Write("t5/config.json", R"({"model_type": "t5"})");
  const ProgramResult result = Inspect("t5");
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.err, "error: " + Path("t5/config.json") +
                            ": the architecture 't5' is not supported; supported: bert\n");
}

TEST_F(InspectCommand, PicklesAreNotLoaded) {
  weights::WriteSmallModel(Path("model"));
  std::filesystem::rename(Path("model/model.safetensors"), Path("model/pytorch_model.bin"));
  const ProgramResult result = Inspect("model");
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, HasSubstr("pytorch_model.bin: the weights are there only as a pickle, "
                                    "which can run code and is never loaded; convert them"));
}

TEST_F(InspectCommand, BrokenDataIsExitThreeAndUnknownEndingsExitTwo) {
  Write("e.npy", "no array");
  ExpectError("e.npy", 3, ": is not a NumPy .npy file of version 1");
  Write("picture.png", "x");
  ExpectError("picture.png", 2,
              ": the ending does not tell what the file holds; known endings are .safetensors, "
              ".npy, .jsonl, .jsonl.gz, .trec, .run, .tsv, .qrels");
}

}  // namespace
}  // namespace tandem
